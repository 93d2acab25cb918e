// Problems of a configuration: texts that name the place and never show a value.

export interface Problem {
  /** The place as the operator would look for it: `channels[0].baseUrl`, `--port`, `PORT`; '' for the file itself. */
  readonly path: string
  readonly message: string
}

/** The configuration is refused; contains every problem found, and `message` is fit to print. */
export class ConfigError extends Error {
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[], file: string | null) {
    const lines = problems.map(
      ({ path, message }) => `  ${path === '' ? '' : `${path}: `}${message}`,
    )
    super([`The configuration${file === null ? '' : ` ${file}`} is refused:`, ...lines].join('\n'))
    this.name = 'ConfigError'
    this.problems = problems
  }
}

/** `['models', 'a/b', 'prices']` becomes `models["a/b"].prices`. */
export function pathText(path: readonly PropertyKey[]): string {
  let text = ''
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`
    else if (/^[\w-]+$/.test(String(step))) text += text === '' ? String(step) : `.${String(step)}`
    else text += `[${JSON.stringify(String(step))}]`
  }
  return text
}

/** `; did you mean X?` for the known name nearest to `name`, or '' when none is near. */
export function suggestion(name: string, known: Iterable<string>): string {
  const best = nearest(name, known)
  return best === null ? '' : `; did you mean ${best}?`
}

/** The known name that `name` may be meant for; null where none is near. */
export function nearest(name: string, known: Iterable<string>): string | null {
  let best: string | null = null
  let bestDistance = Math.max(2, Math.floor(name.length / 3)) + 1
  for (const candidate of known) {
    // The edit distance is at least the difference in length.
    if (Math.abs(name.length - candidate.length) >= bestDistance) continue
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance < bestDistance && distance < candidate.length) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** The Levenshtein distance: insertions, deletions and replacements from one text to the other. */
function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1)
      const inserted = (current[column - 1] ?? 0) + 1
      const deleted = (previous[column] ?? 0) + 1
      current.push(Math.min(replaced, inserted, deleted))
    }
    previous = current
  }
  return previous[to.length] ?? 0
}
