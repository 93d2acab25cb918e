// The state of a channel's form: typed values survive refusals and changes by others, which can be merged on request.

import { useRef } from 'react'
import { type UseFormReturn, useForm } from 'react-hook-form'
import { randomId } from '../../api/client.ts'
import { type Newest, useNewest } from '../../ui/use-newest.ts'
import { useRefusal } from '../../ui/use-refusal.ts'
import type { Channel } from './channels.ts'
import { type ChannelValues, type FormField, formField, newValues, valuesOf } from './values.ts'

export type ChannelForm = UseFormReturn<ChannelValues>

interface Sending {
  readonly form: ChannelForm
  readonly newest: Newest<Channel | null>
  /** A refusal that concerns no single field. */
  readonly problem: Error | null
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
  const form = useForm<ChannelValues>({ defaultValues: valuesFrom(channel) })
  const { problem, attempt, clear } = useRefusal(form, placeOf)
  const newest = useNewest({ form, shown: channel, valuesOf: valuesFrom, clear })
  const { base } = newest
  const last = useRef<Attempt | null>(null)
  async function work(values: ChannelValues) {
    const typed = JSON.stringify([values, base?.revision])
    if (last.current?.typed !== typed) last.current = { typed, idempotencyKey: randomId() }
    const { idempotencyKey } = last.current
    await attempt(() => send(values, base, idempotencyKey))
  }
  return {
    form,
    problem,
    newest,
    submit() {
      // Otherwise refusals that concern no single field would stay.
      form.clearErrors()
      void form.handleSubmit(work)()
    },
  }
}

function valuesFrom(channel: Channel | null): ChannelValues {
  return channel === null ? newValues : valuesOf(channel)
}

/** The field of the form for a refusal: some calls name the channel's fields below `channel`. */
export function placeOf(field: string, values: ChannelValues): FormField | null {
  return formField(field.replace(/^channel\./, ''), values)
}
