// The state of a group's form: what is typed, how it is sent, and where a refusal is shown.

import { type FieldPath, type UseFormReturn, useForm } from 'react-hook-form'
import { type Newest, useNewest } from '../../ui/use-newest.ts'
import { useRefusal } from '../../ui/use-refusal.ts'
import { type GroupSettings, type LimitName, limitNames } from './rows.ts'

/** As typed. */
export interface GroupValues {
  readonly id: string
  readonly multiplier: string
  /** One per line: `gpt-4o* 0.8`. */
  readonly modelMultipliers: string
  readonly models: string
  readonly limits: Readonly<Record<LimitName, string>>
}

export type GroupBody = GroupSettings & { readonly id: string }

export interface ShownGroup {
  /** Empty: a new group. */
  readonly id: string
  readonly revision: number
  readonly settings: GroupSettings
  readonly actor?: string | null
  readonly changedAt?: string | null
}

export interface GroupFormState {
  readonly form: UseFormReturn<GroupValues>
  readonly newest: Newest<ShownGroup>
  /** A refusal that concerns no field. */
  readonly problem: Error | null
  readonly submit: () => void
}

/** `send` throws Problem; `revision`: of the group as the form began with it. */
export function useGroupForm(
  shown: ShownGroup,
  send: (body: GroupBody, revision: number) => Promise<unknown>,
): GroupFormState {
  const form = useForm<GroupValues>({ defaultValues: valuesOf(shown) })
  const { problem, attempt, clear } = useRefusal(form, fieldOf)
  const newest = useNewest({ form, shown, valuesOf, clear })
  async function work(values: GroupValues) {
    await attempt(async () => {
      await send(bodyOf(values), newest.base.revision)
      form.reset(values)
    })
  }
  return { form, newest, problem, submit: () => void form.handleSubmit(work)() }
}

/** Lines that are not empty. */
export function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

function valuesOf({ id, settings }: ShownGroup): GroupValues {
  const { multiplier, modelMultipliers, models, limits } = settings
  const written = (name: LimitName) => String(limits[name] ?? '')
  return {
    id,
    multiplier,
    modelMultipliers: Object.entries(modelMultipliers)
      .map((pair) => pair.join(' '))
      .join('\n'),
    models: models.join('\n'),
    limits: {
      requestsPerMinute: written('requestsPerMinute'),
      tokensPerMinute: written('tokensPerMinute'),
      concurrentRequests: written('concurrentRequests'),
    },
  }
}

function bodyOf(values: GroupValues): GroupBody {
  const { id, multiplier, modelMultipliers, models, limits } = values
  const read = (name: LimitName) => (limits[name].trim() === '' ? null : Number(limits[name]))
  return {
    id: id.trim(),
    multiplier: multiplier.trim(),
    modelMultipliers: Object.fromEntries(
      linesOf(modelMultipliers).map((line) => line.split(/\s+/) as [string, string]),
    ),
    models: models.split(/[\s,]+/).filter((each) => each !== ''),
    limits: {
      requestsPerMinute: read('requestsPerMinute'),
      tokensPerMinute: read('tokensPerMinute'),
      concurrentRequests: read('concurrentRequests'),
    },
  }
}

/** `models[0]` belongs to the field of all models. */
function fieldOf(field: string): FieldPath<GroupValues> | null {
  if (field === 'id' || field === 'multiplier') return field
  if (field.startsWith('modelMultipliers')) return 'modelMultipliers'
  if (field.startsWith('models')) return 'models'
  const limit = limitNames.find((name) => field === `limits.${name}`)
  return limit === undefined ? null : `limits.${limit}`
}
