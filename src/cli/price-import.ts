// `tollgate price import` and `catalog update`: show what a price document would change, and apply it with --yes.

import { Buffer } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { readInput } from '../admin/input.ts'
import { type ImportChange, importPrices } from '../admin/price-import.ts'
import { AdminError } from '../admin/use-case.ts'
import type { Command, Context, Option } from './command.ts'
import { type Cell, print, printJson, say, table } from './output.ts'
import { actor, allowLarge, tooLarge } from './price.ts'
import { withChange } from './settings.ts'

/** The exit code where there are changes but no --yes. */
const notApplied = 3

const importOptions: Readonly<Record<string, Option>> = {
  vendor: { type: 'string', value: 'V', help: 'everything in the document of this vendor' },
  model: {
    type: 'string',
    value: 'PATTERN',
    help: 'only this model, or `gpt-4*` for all that begin so',
  },
  yes: { type: 'boolean', help: 'apply it' },
  'allow-large': allowLarge,
  actor,
}

export const priceImport: Command = {
  name: 'price import',
  words: [],
  summary: 'show what a file of prices would change; with --yes, apply it',
  options: {
    file: {
      type: 'string',
      value: 'FILE',
      help: 'a price file of ours, or a document that `catalog update` accepts',
    },
    ...importOptions,
  },
  async run(context) {
    const file = context.flags.required('file')
    return importDocument(context, file, await readDocument(file))
  },
}

export const catalogUpdate: Command = {
  name: 'catalog update',
  words: [],
  summary: 'show what a published price list would change; with --yes, apply it',
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
    if (!/^https?:\/\//i.test(from)) {
      return importDocument(context, from, await readDocument(from))
    }
    const { fetchText } = await import('../safe-fetch/fetch-text.ts')
    return importDocument(context, from, await fetchText(from))
  },
}

const unreadable: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ENOENT: 'there is no such file',
    EACCES: 'this user may not read it',
    EISDIR: 'it is a folder, not a file',
  }),
)

/** The file may be a device or a pipe that never ends. */
const mostDocumentBytes = 67_108_864

/** Throws an error that names the file where it cannot be read. */
async function readDocument(file: string): Promise<string> {
  try {
    const pieces: Buffer[] = []
    let bytes = 0
    for await (const piece of createReadStream(file)) {
      pieces.push(piece)
      bytes += piece.length
      if (bytes > mostDocumentBytes) throw new Error(`it has more than ${mostDocumentBytes} bytes`)
    }
    return Buffer.concat(pieces).toString('utf8')
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const reason = unreadable.get('code' in error ? String(error.code) : '') ?? error.message
    throw new Error(`Cannot read ${file}: ${reason}`, { cause: error })
  }
}

async function importDocument(
  context: Context,
  name: string,
  document: string,
): Promise<number | undefined> {
  const { flags, json } = context
  const input = await readInput('importPrices', {
    document,
    vendor: flags.text('vendor'),
    model: flags.text('model'),
    apply: flags.has('yes'),
    allowLarge: flags.has('allow-large'),
  })
  const done = await withChange(
    context,
    (admin) => importPrices(admin, input),
    ({ applied, changes, versions }) =>
      applied
        ? {
            action: 'importPrices',
            target: {},
            detail: { from: name, changed: changes.map(({ model }) => model), versions },
          }
        : null,
  ).catch((error) => {
    if (!(error instanceof AdminError) || error.field !== 'document') throw error
    throw new Error(`${name}: ${error.message}`, { cause: error })
  })
  const { applied, models, changes, versions, refused, inFile } = done
  if (!json && changes.length > 0) await print(table(headings, changes.flatMap(changeCells)))
  if (inFile.length > 0) {
    say(
      `note: the configuration file prices ${inFile.join(', ')}; the change takes effect when the file no longer does`,
    )
  }
  if (json) await printJson({ applied, changes, versions })
  if (refused.length > 0) throw tooLarge(refused)
  const count = `${changes.length} of ${models} models`
  if (applied) say(`${count} changed.`)
  else
    say(
      changes.length === 0 ? 'Nothing would change.' : `${count} would change; add --yes to apply.`,
    )
  return applied || changes.length === 0 ? undefined : notApplied
}

const headings = ['MODEL', 'PRICE', 'OLD', 'NEW', 'PERCENT', '']

function changeCells({ model, differences }: ImportChange): Cell[][] {
  return differences.map(({ name, before, after, percent, large }) => [
    model,
    name,
    before,
    after,
    percent,
    large ? 'large' : '',
  ])
}
