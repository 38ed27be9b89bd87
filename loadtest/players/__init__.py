"""How people behave: coroutines over a World, which lends clients and tells the time; they record and never judge."""
