"""A model client: requests in, completions out, recorded, paced and paid for.

It knows nothing of calendars or games, only of messages, models and money.
"""
