// The state of a key's form: repeated sending has one effect, and a refusal is shown at its field.

import { useRef } from 'react'
import { useForm } from 'react-hook-form'
import { randomId } from '../../api/client.ts'
import { useRefusal } from '../../ui/use-refusal.ts'
import type { KeyForm } from './key-form.tsx'
import { formField, type KeyValues } from './key-values.ts'

interface Attempt {
  /** The typed values: sent again unchanged, they have the same idempotency key and the same time. */
  readonly typed: string
  readonly idempotencyKey: string
  readonly sentMs: number
}

interface Sending {
  readonly form: KeyForm
  /** A refusal that concerns no field. */
  readonly problem: Error | null
  readonly clear: () => void
  readonly submit: () => void
}

export function useKeyForm(
  defaultValues: KeyValues,
  send: (values: KeyValues, attempt: Attempt) => Promise<unknown>,
): Sending {
  const form = useForm<KeyValues>({ defaultValues })
  const { problem, attempt, clear } = useRefusal(form, formField)
  const last = useRef<Attempt | null>(null)
  async function work(values: KeyValues) {
    const typed = JSON.stringify(values)
    if (last.current?.typed !== typed)
      last.current = { typed, idempotencyKey: randomId(), sentMs: Date.now() }
    const sent = last.current
    await attempt(() => send(values, sent))
  }
  return { form, problem, clear, submit: () => void form.handleSubmit(work)() }
}
