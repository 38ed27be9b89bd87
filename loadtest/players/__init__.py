"""How players behave: coroutines over a World, which provides clients and time; they record and never judge."""
