"""Turns tables, suites and traces into the pages and page data of the site."""
