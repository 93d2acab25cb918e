// The idempotency key of a form: the same again after a lost answer is done once, what is typed anew is another request.

import { useRef } from 'react'
import { randomId } from '../api/client.ts'

export function useIdempotencyKey() {
  const last = useRef({ typed: '', key: '' })
  return {
    /** The key for a body, the same until another body is sent. */
    of(body: object): string {
      const typed = JSON.stringify(body)
      if (last.current.typed !== typed) last.current = { typed, key: randomId() }
      return last.current.key
    },
    /** For a request that is safe to make twice. */
    renew() {
      last.current = { typed: '', key: '' }
    },
  }
}
