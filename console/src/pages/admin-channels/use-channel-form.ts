// The state of a channel's form: typed values survive refusals and changes by others, which can be merged on request.

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
  /** The channel with which the form began; null: a new channel. */
  readonly base: Channel | null
  /** A refusal that concerns no single field. */
  readonly problem: Error | null
  /** Somebody changed the channel after the form was opened. */
  readonly isStale: boolean
  /** Continues from the newest version: typed values stay, the others are updated. */
  readonly takeOver: () => void
  readonly submit: () => void
}

interface Attempt {
  /** The typed values: sent again unchanged, they have the same idempotency key. */
  readonly typed: string
  readonly idempotencyKey: string
}

/** `send` gets the channel with which the form began. */
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
      // Otherwise refusals that concern no single field would stay.
      form.clearErrors()
      void form.handleSubmit(work)()
    },
  }
}

/** The field of the form for a refusal: some calls name the channel's fields below `channel`. */
export function placeOf(field: string, values: ChannelValues): FormField | null {
  return formField(field.replace(/^channel\./, ''), values)
}
