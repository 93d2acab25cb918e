// Freezes plain data, and makes records without a prototype.

/** Freezes a tree of plain objects and arrays in place. */
export function deepFreeze<Tree>(tree: Tree): Tree {
  if (typeof tree === 'object' && tree !== null && !Object.isFrozen(tree)) {
    for (const inner of Object.values(tree)) deepFreeze(inner)
    Object.freeze(tree)
  }
  return tree
}

/** A record without a prototype: a model called `constructor` is found only where there is one. */
export function recordOf<Value>(
  entries: Iterable<readonly [string, Value]>,
): Record<string, Value> {
  const record: Record<string, Value> = Object.create(null)
  for (const [name, value] of entries) record[name] = value
  return record
}
