// Gives the calls of a Gemini history ids, which Google may leave out, and their answers the same.

import { OpenCalls } from '../hub/open-calls.ts'
import { madeId } from './ids.ts'

export class GeminiCalls {
  private readonly calls = new OpenCalls()
  private count = 0

  /** Called for each content. */
  begin(isModel: boolean): void {
    this.calls.begin(isModel)
  }

  /** Notes a call; returns its id, which is made where Google gave none. */
  open(given: string, name: string): string {
    const id = given || madeId('', 0, this.count)
    this.count++
    this.calls.open(id, name)
    return id
  }

  /** The id of the answered call. */
  answered(id: string, name: string): string {
    return this.calls.answered(id, name) ?? (id || madeId(name, 0, this.count++))
  }
}
