"""The admission of calls: budgets of units, places of streams, and costs, which servicers pay."""
