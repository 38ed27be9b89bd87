"""The players: coroutines over a UserContext, which provides clients and time; they record and never judge."""
