"""Best and worst schedules with full knowledge, how hard a scenario is, and how to check both."""
