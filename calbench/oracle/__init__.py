"""Best and worst schedules with full knowledge, difficulty of scenarios, and their checks."""
