// Runs commands that change one named thing and confirm it.

import type { AdminContext } from '../admin/use-case.ts'
import type { Context } from './command.ts'
import { printJson, say } from './output.ts'
import { withChange } from './settings.ts'

/** `action`: the control API's operation; `kind`: the kind of thing, capitalized for the confirmation; `done`: the participle that follows its name. */
export async function changeNamed(
  context: Context,
  { action, kind, done }: { readonly action: string; readonly kind: string; readonly done: string },
  work: (admin: AdminContext, input: { readonly id: string }) => Promise<unknown>,
): Promise<undefined> {
  const [id = ''] = context.words
  await withChange(
    context,
    (admin) => work(admin, { id }),
    () => ({ action, target: { id } }),
  )
  if (context.json) await printJson({ id, [done]: true })
  else say(`${kind} ${id} ${done}.`)
  return undefined
}
