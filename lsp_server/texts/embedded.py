"""The embedded model: its weights, its runtime and its host."""

NOT_HERE = "The weights of {name} are not on this machine. `midstream model pull {name}` fetches them."
