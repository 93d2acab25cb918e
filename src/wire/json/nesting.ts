// Follows JSON that arrives in pieces: how deep it is nested, and where an object in it ends.

/** Takes the text's characters one after another. */
export class Nesting {
  depth = 0
  inString = false
  private escaped = false

  take(unit: string): void {
    if (this.inString) {
      if (this.escaped) this.escaped = false
      else if (unit === '\\') this.escaped = true
      else if (unit === '"') this.inString = false
    } else if (unit === '"') this.inString = true
    else if (unit === '{' || unit === '[') this.depth++
    else if (unit === '}' || unit === ']') this.depth--
  }
}

/** Whether a text is one whole object, by its brackets. Takes time for each piece, and none for what came before. */
export class ObjectEnd {
  private readonly nesting = new Nesting()
  private state: 'before' | 'inside' | 'whole' | 'other' = 'before'

  get whole(): boolean {
    return this.state === 'whole'
  }

  push(piece: string): void {
    for (let at = 0; at < piece.length && this.state !== 'other'; at++) {
      const unit = piece.charAt(at)
      if (this.state === 'inside') {
        this.nesting.take(unit)
        if (this.nesting.depth === 0) this.state = 'whole'
      } else if (!isSpace(unit)) {
        this.state = this.state === 'before' && unit === '{' ? 'inside' : 'other'
        this.nesting.take(unit)
      }
    }
  }
}

export function isSpace(unit: string): boolean {
  return unit === ' ' || unit === '\n' || unit === '\t' || unit === '\r'
}
