// `tollgate help` and `tollgate version`.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../installation.ts'
import type { Command, Option } from './command.ts'
import { print, printJson } from './output.ts'
import { optionsOf, sharedOptions } from './parse.ts'

export const version: Command = {
  name: 'version',
  words: [],
  summary: 'print the version',
  options: {},
  async run({ json }) {
    const manifest = readFileSync(join(root, 'package.json'), 'utf8')
    const { version: text } = JSON.parse(manifest) as { readonly version: string }
    if (json) await printJson({ version: text })
    else await print(`${text}\n`)
    return undefined
  },
}

/** `help` lists these commands and itself; `help key create` describes one. */
export function createHelp(others: readonly Command[]): Command {
  const help: Command = {
    name: 'help',
    words: ['[COMMAND]', '[SUBCOMMAND]'],
    summary: 'list the commands, or describe one',
    options: {},
    async run({ json, words }) {
      const all = [...others, help]
      const name = words.join(' ')
      const exact = all.find((command) => command.name === name)
      const shown = exact ? [exact] : all.filter((each) => each.name.startsWith(name))
      if (shown.length === 0) throw new Error(`there is no command ${JSON.stringify(name)}`)
      if (json) await printJson(shown.map(commandView))
      else if (exact !== undefined) await print(commandHelp(exact))
      else await print(overview(shown))
      return undefined
    },
  }
  return help
}

export function commandHelp(command: Command): string {
  return [
    `Usage: tollgate ${[command.name, ...command.words].join(' ')} [options]`,
    `\n${command.summary}\n`,
    ...optionLines(optionsOf(command)),
    '',
  ].join('\n')
}

function overview(commands: readonly Command[]): string {
  return [
    'Usage: tollgate COMMAND [options]\n',
    ...aligned(commands.map((each) => [[each.name, ...each.words].join(' '), each.summary])),
    '\nWith every command:',
    ...optionLines(sharedOptions),
    '\nDATABASE_URL selects a PostgreSQL database instead of the data directory.\n',
  ].join('\n')
}

function commandView(command: Command) {
  const { name, words, summary } = command
  return { name, words, summary, options: optionsOf(command) }
}

function optionLines(options: Readonly<Record<string, Option>>): string[] {
  return aligned(
    Object.entries(options).map(([name, { value, help }]) => [
      `--${name}${value === undefined ? '' : ` ${value}`}`,
      help,
    ]),
  )
}

function aligned(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}
