"""The lobby's database: schema and stores."""
