// The state of a form whose object somebody else may change meanwhile: what was typed stays until the reader decides.

import { useEffect, useState } from 'react'
import type { FieldValues, Path, PathValue, UseFormReturn } from 'react-hook-form'

export interface Newest<Shown> {
  /** The state with which the form began: its revision is sent in If-Match. */
  readonly base: Shown
  /** There is a newer state, and something was typed: it cannot be saved before the reader decides. */
  readonly isStale: boolean
  /** Continues from the newest state: typed values stay, the others are updated. */
  readonly takeOver: () => void
  /** Continues from the newest state without what was typed. */
  readonly discard: () => void
}

interface NewestOptions<Values extends FieldValues, Shown> {
  readonly form: UseFormReturn<Values>
  readonly shown: Shown
  readonly valuesOf: (shown: Shown) => Values
  /** Removes the refusal of the last attempt. */
  readonly clear: () => void
}

/**
 * Without typed values the form follows the newest state by itself. After saving, also if that failed, request the
 * object again, so that a newer state is known; then, if it was saved, call `form.reset(values)`: what is typed before
 * that would seem to be older than the state just saved.
 */
export function useNewest<
  Values extends FieldValues,
  Shown extends { readonly revision: number } | null,
>({ form, shown, valuesOf, clear }: NewestOptions<Values, Shown>): Newest<Shown> {
  const [base, setBase] = useState(shown)
  const { isDirty, isSubmitting, defaultValues } = form.formState
  const isNewer = shown?.revision !== base?.revision
  function follow(typed: object) {
    form.reset(valuesOf(shown))
    for (const [name, value] of Object.entries(typed)) {
      form.setValue(name as Path<Values>, value as PathValue<Values, Path<Values>>, {
        shouldDirty: true,
      })
    }
    setBase(shown)
  }
  useEffect(() => {
    if (isNewer && !isDirty && !isSubmitting) follow({})
  })
  return {
    base,
    isStale: isNewer && isDirty && !isSubmitting,
    takeOver() {
      follow(typedOver(form.getValues(), defaultValues ?? {}))
      clear()
    },
    discard() {
      follow({})
      clear()
    },
  }
}

function typedOver(values: object, before: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(
    Object.entries(values).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]),
    ),
  )
}
