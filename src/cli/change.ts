// Commands that do one thing to what their word names, and say so.

import type { AdminContext } from '../admin/use-case.ts'
import type { Context } from './command.ts'
import { printJson, say } from './output.ts'
import { withStore } from './settings.ts'

/** `kind`: what it is called at the beginning of a sentence; `done`: what it is afterwards. */
export async function changeNamed(
  context: Context,
  kind: string,
  done: string,
  work: (admin: AdminContext, input: { readonly id: string }) => Promise<unknown>,
): Promise<undefined> {
  const [id = ''] = context.words
  await withStore(context, (admin) => work(admin, { id }))
  if (context.json) await printJson({ id, [done]: true })
  else say(`${kind} ${id} ${done}.`)
  return undefined
}
