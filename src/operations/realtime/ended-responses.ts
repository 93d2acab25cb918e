// The last responses of a session that ended, so that a vendor that repeats the end of one is not paid twice.

const most = 100

export class EndedResponses {
  private readonly ids = new Set<string>()

  has(id: string): boolean {
    return this.ids.has(id)
  }

  /** A vendor that gives its responses no id cannot be checked. */
  add(id: string): void {
    if (id === '') return
    this.ids.add(id)
    const [oldest] = this.ids
    if (this.ids.size > most && oldest !== undefined) this.ids.delete(oldest)
  }

  delete(id: string): void {
    this.ids.delete(id)
  }
}
