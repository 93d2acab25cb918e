// Where a refusal of a form is shown: at the field that it names, else below the form.

import { useState } from 'react'
import type { FieldPath, FieldValues, UseFormReturn } from 'react-hook-form'
import { Problem } from '../api/client.ts'
import { refusalText } from './refusal.ts'

interface Refusal {
  /** A refusal that belongs to no field. */
  readonly problem: Error | null
  /** Sends the form: what it throws is shown. Resolves with whether it was done. */
  readonly attempt: (send: () => Promise<unknown>) => Promise<boolean>
  readonly clear: () => void
}

/** `fieldOf` gives the form's field for the API's; null: the form has none for it. */
export function useRefusal<Values extends FieldValues>(
  { getValues, setError }: Pick<UseFormReturn<Values>, 'getValues' | 'setError'>,
  fieldOf: (field: string, values: Values) => FieldPath<Values> | `root.${string}` | null,
): Refusal {
  const [problem, setProblem] = useState<Error | null>(null)
  async function attempt(send: () => Promise<unknown>): Promise<boolean> {
    setProblem(null)
    try {
      await send()
      return true
    } catch (error) {
      if (!(error instanceof Error)) throw error
      const named = error instanceof Problem ? error.field : null
      const field = named === null ? null : fieldOf(named, getValues())
      if (field === null) setProblem(error)
      else setError(field, { message: refusalText(error) }, { shouldFocus: true })
      return false
    }
  }
  return { problem, attempt, clear: () => setProblem(null) }
}

/** For forms whose fields are called as the API calls them. */
export function sameFields<Name extends string>(...names: readonly Name[]) {
  return (field: string): Name | null => names.find((name) => name === field) ?? null
}
