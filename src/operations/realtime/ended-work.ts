// The last responses, or transcripts, of a session that ended: a vendor that repeats the end of one is not paid twice.

const most = 100

export class EndedWork {
  private readonly ids = new Set<string>()

  has(id: string): boolean {
    return this.ids.has(id)
  }

  /** Work without an id cannot be recognised. */
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
