// Parses a command line into a command, its arguments and its flags.

import { parseArgs } from 'node:util'
import { suggestion } from '../config/problems.ts'
import { type Command, Flags, type Line, type Option, UsageError } from './command.ts'

/** The options that every command takes. */
export const sharedOptions = {
  json: { type: 'boolean', help: 'print one JSON value and nothing else' },
  data: { type: 'string', value: 'DIR', help: 'data directory (TOLLGATE_DATA, ./data)' },
  config: { type: 'string', value: 'FILE', help: 'configuration file (TOLLGATE_CONFIG)' },
  help: { type: 'boolean', help: 'show how the command is used' },
} satisfies Readonly<Record<string, Option>>

/** A command's options: its own, then the shared ones. */
export function optionsOf({ options, json: answersJson }: Command) {
  const { json, ...rest } = sharedOptions
  return { ...options, ...(answersJson !== false && { json }), ...rest }
}

/** Throws UsageError, with a suggestion where a known name is near. */
export function parseLine(args: readonly string[], commands: readonly Command[]): Line {
  const words = withoutGroupHelp(args, commands)
  const command = findCommand(words, commands)
  const rest = words.slice(command.name.split(' ').length)
  const options: Readonly<Record<string, Option>> = optionsOf(command)
  const { tokens, positionals } = parseArgs({
    args: [...rest],
    options: { ...optionTypes(options), h: { type: 'boolean' } },
    strict: false,
    tokens: true,
    allowPositionals: true,
  })
  const values = new Map<string, string>()
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const name = token.rawName === '-h' ? 'help' : token.name
    const isLong = token.rawName.startsWith('--') || name === 'help'
    const option = isLong && Object.hasOwn(options, name) ? options[name] : undefined
    if (option === undefined) {
      if (/^-\d/.test(token.rawName)) {
        throw new UsageError(
          `${command.name} has no ${token.rawName}: an amount is above 0, without a sign`,
        )
      }
      const near = suggestion(token.name, Object.keys(options))
      throw new UsageError(
        `${command.name} has no ${token.rawName}${near && `${near.replace('mean ', 'mean --')}`}`,
      )
    }
    const value = valueOf(token, option)
    // Wrappers give the shared options before those of their caller, who may give them again.
    if (!Object.hasOwn(sharedOptions, name) && (values.get(name) ?? value) !== value)
      throw new UsageError(`${token.rawName} was given twice`)
    values.set(name, value)
  }
  if (!values.has('help')) checkWords(command, positionals)
  return { command, words: positionals, flags: new Flags(values) }
}

function optionTypes(options: Readonly<Record<string, Option>>) {
  return Object.fromEntries(Object.entries(options).map(([name, { type }]) => [name, { type }]))
}

interface OptionToken {
  readonly rawName: string
  readonly value?: string | undefined
  readonly inlineValue?: boolean | undefined
}

/** A word that is written as an option is. */
const optionLike = /^(-[a-z]|--[a-z-]+(=.*)?)$/

function valueOf(token: OptionToken, option: Option): string {
  if (option.type === 'boolean') {
    if (token.value !== undefined) throw new UsageError(`${token.rawName} takes no value`)
    return ''
  }
  // In `--account --json` the account is missing. A public key may begin with a dash too.
  if (token.value === undefined || (!token.inlineValue && optionLike.test(token.value))) {
    throw new UsageError(`${token.rawName} needs a value: ${token.rawName} ${option.value ?? ''}`)
  }
  return token.value
}

/** Turns `key --help` into `help key`, where `key` begins the names of several commands. */
function withoutGroupHelp(
  args: readonly string[],
  commands: readonly Command[],
): readonly string[] {
  const [first = '', second = ''] = args
  const isHelp = (word: string) => word === '--help' || word === '-h'
  if (!second.startsWith('-') || !args.some(isHelp) || !isGroup(first, commands)) return args
  return ['help', ...args.filter((word) => !isHelp(word))]
}

function isGroup(word: string, commands: readonly Command[]): boolean {
  const names = commands.map(({ name }) => name)
  return !names.includes(word) && names.some((name) => name.startsWith(`${word} `))
}

const aliases: ReadonlyMap<string, string> = new Map(
  Object.entries({ '--help': 'help', '-h': 'help', '--version': 'version' }),
)

function findCommand(args: readonly string[], commands: readonly Command[]): Command {
  const [first = 'help', second] = args
  const alias = aliases.get(first) ?? first
  const command =
    commands.find(({ name }) => name === `${first} ${second}`) ??
    commands.find(({ name }) => name === alias)
  if (command !== undefined) return command
  if (first.startsWith('-')) throw new UsageError(`the command comes before ${first}`)
  const subcommands = commands.filter(({ name }) => name.startsWith(`${first} `))
  if (subcommands.length > 0) {
    const names = subcommands.map(({ name }) => name)
    if (second === undefined || second.startsWith('-')) {
      throw new UsageError(`${first} what? ${names.join(', ')}`)
    }
    throw unknownCommand(`${first} ${second}`, names)
  }
  const names = commands.map(({ name }) => name)
  throw unknownCommand(first, [...names, ...names.map((name) => name.split(' ')[0] ?? name)])
}

function unknownCommand(name: string, known: readonly string[]): UsageError {
  const near = suggestion(name, known) || '; `tollgate help` lists them'
  return new UsageError(`unknown command ${JSON.stringify(name)}${near}`)
}

function checkWords(command: Command, words: readonly string[]): void {
  const needed = command.words.filter((word) => !word.startsWith('['))
  if (words.length < needed.length) {
    throw new UsageError(`${command.name} needs ${needed.slice(words.length).join(' ')}`)
  }
  if (command.words.at(-1)?.endsWith('...')) return
  const extra = words[command.words.length]
  if (extra !== undefined) {
    throw new UsageError(`${command.name} does not take ${JSON.stringify(extra)}`)
  }
}
