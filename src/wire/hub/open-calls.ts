// Finds the call that an answer belongs to in histories that name the function alone: the latest turn's calls first.

interface OpenCall {
  readonly id: string
  isAnswered: boolean
}

/** Calls of one name in one turn, in order; those before `next` are answered. */
interface Queue {
  readonly turn: number
  readonly calls: OpenCall[]
  next: number
}

export class OpenCalls {
  private turn = 0
  private wasModel = false
  private readonly byId = new Map<string, OpenCall>()
  /** By name: the queues of its turns, the latest last. */
  private readonly byName = new Map<string, Queue[]>()

  /** Called for each message: consecutive ones of the model are one turn. */
  begin(isModel: boolean): void {
    if (isModel && !this.wasModel) this.turn++
    this.wasModel = isModel
  }

  open(id: string, name: string): void {
    const call = { id, isAnswered: false }
    this.byId.set(id, call)
    const queues = this.byName.get(name) ?? []
    this.byName.set(name, queues)
    const last = queues.at(-1)
    if (last?.turn === this.turn) last.calls.push(call)
    else queues.push({ turn: this.turn, calls: [call], next: 0 })
  }

  /**
   * The id of the answered call, by its id, else by its name and order. A call of an earlier turn that was never
   * answered waits behind those of later ones. Undefined: no call waits.
   */
  answered(id: string, name: string): string | undefined {
    const call = (id === '' ? undefined : this.byId.get(id)) ?? this.waiting(name)
    if (call !== undefined) call.isAnswered = true
    return call?.id
  }

  private waiting(name: string): OpenCall | undefined {
    const queues = this.byName.get(name) ?? []
    for (let queue = queues.at(-1); queue !== undefined; queue = queues.at(-1)) {
      while (queue.calls[queue.next]?.isAnswered === true) queue.next++
      const call = queue.calls[queue.next]
      if (call !== undefined) return call
      queues.pop()
    }
    return undefined
  }
}
