// A form of a channel: what is typed stays through refusals and through changes of others, which it takes over when told.

import { useEffect, useRef, useState } from 'react'
import { type UseFormReturn, useForm } from 'react-hook-form'
import { randomId } from '../../api/client.ts'
import { useRefusal } from '../../ui/use-refusal.ts'
import type { Channel } from './channels.ts'
import {
  type ChannelValues,
  type FormField,
  formField,
  newValues,
  typedOver,
  valuesOf,
} from './values.ts'

export type ChannelForm = UseFormReturn<ChannelValues>

interface Sending {
  readonly form: ChannelForm
  /** What the form began from; null: a new channel. */
  readonly base: Channel | null
  /** A refusal that belongs to no field. */
  readonly problem: Error | null
  /** Somebody changed the channel after the form began. */
  readonly isStale: boolean
  /** Goes on from the newest version: what was typed stays, the rest is as it is now. */
  readonly takeOver: () => void
  readonly submit: () => void
}

interface Attempt {
  /** What was typed: sent again as it was, it has the same key. */
  readonly typed: string
  readonly idempotencyKey: string
}

/** `send` gets the channel that the form began from. */
export function useChannelForm(
  channel: Channel | null,
  send: (values: ChannelValues, base: Channel | null, idempotencyKey: string) => Promise<unknown>,
): Sending {
  const [base, setBase] = useState(channel)
  const before = base === null ? newValues : valuesOf(base)
  const form = useForm<ChannelValues>({ defaultValues: before })
  const { problem, attempt, clear } = useRefusal(form, placeOf)
  const last = useRef<Attempt | null>(null)
  const { isDirty, isSubmitting } = form.formState
  const isNewer = channel !== null && base !== null && channel.revision !== base.revision
  function takeOver() {
    if (channel === null) return
    const typed = typedOver(form.getValues(), before)
    form.reset(valuesOf(channel))
    for (const [name, value] of Object.entries(typed))
      form.setValue(name as keyof ChannelValues, value, { shouldDirty: true })
    setBase(channel)
    clear()
  }
  useEffect(() => {
    if (isNewer && !isDirty && !isSubmitting) takeOver()
  })
  async function work(values: ChannelValues) {
    const typed = JSON.stringify([values, base?.revision])
    if (last.current?.typed !== typed) last.current = { typed, idempotencyKey: randomId() }
    const { idempotencyKey } = last.current
    await attempt(() => send(values, base, idempotencyKey))
  }
  return {
    form,
    base,
    problem,
    isStale: isNewer && isDirty && !isSubmitting,
    takeOver,
    submit() {
      // Refusals of what is no single field would stay otherwise.
      form.clearErrors()
      void form.handleSubmit(work)()
    },
  }
}

/** Where in the form a refusal belongs: some questions name the channel's fields below `channel`. */
export function placeOf(field: string, values: ChannelValues): FormField | null {
  return formField(field.replace(/^channel\./, ''), values)
}
