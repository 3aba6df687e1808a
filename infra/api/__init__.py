"""The API of a region: its routes, the function behind them, who may call, and what stands before it."""
