// The rows of the list and those that arrived meanwhile, as one list.

interface Row {
  readonly requestId: string
  readonly at: string
}

/** Newest first, whichever of both was read last. */
export function merged<Each extends Row>(
  arrived: readonly Each[],
  listed: readonly Each[],
): readonly Each[] {
  if (arrived.length === 0) return listed
  const byId = new Map([...arrived, ...listed].map((row) => [row.requestId, row]))
  return [...byId.values()].sort(
    (one, other) => Number(one.at < other.at) - Number(one.at > other.at),
  )
}
