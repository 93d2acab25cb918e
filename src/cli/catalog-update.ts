// `tollgate catalog update`: the prices of a published document, shown beside those in force and applied when told to.

import type { Command } from './command.ts'
import { importFrom, importOptions, readDocument } from './price-import.ts'

/** Gets the text at an address; the message of what it throws names the cause. */
export type FetchText = (address: string) => Promise<string>

/** `load` brings what fetches only where an address is named. */
export function catalogUpdate(load: () => Promise<FetchText>): Command {
  return {
    name: 'catalog update',
    words: [],
    summary: 'show what a published list of prices would change; with --yes, change it',
    options: {
      from: {
        type: 'string',
        value: 'FILE|URL',
        help: "models.dev's api.json or genai-prices' data.json",
      },
      ...importOptions,
    },
    async run(context) {
      const from = context.flags.required('from')
      const isAddress = /^https?:\/\//i.test(from)
      const text = isAddress ? await (await load())(from) : await readDocument(from)
      return importFrom(context, from, text)
    },
  }
}
