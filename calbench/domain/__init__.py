"""What the game is made of: calendars, meetings, messages, actions, observations, rules.

This layer uses no files, no clock and no other layer of the package.
"""
