"""What the game is made of: calendars, meetings, messages, actions, observations, rules.

This layer knows no file, no clock and no other layer of the package.
"""
