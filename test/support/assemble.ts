// Assembles WebAssembly from its text form: one memory and one function of flat instructions, as in `wire`.

/** Opcodes (WebAssembly 2.0, "Index of Instructions"). */
const opcodes: Readonly<Record<string, readonly number[]>> = {
  block: [0x02],
  loop: [0x03],
  if: [0x04],
  end: [0x0b],
  br: [0x0c],
  br_if: [0x0d],
  return: [0x0f],
  'local.get': [0x20],
  'local.set': [0x21],
  'local.tee': [0x22],
  'i32.const': [0x41],
  'i64.const': [0x42],
  'i32.eqz': [0x45],
  'i32.ge_u': [0x4f],
  'i64.eqz': [0x50],
  'i32.add': [0x6a],
  'i32.sub': [0x6b],
  'i64.ctz': [0x7a],
  'i64.add': [0x7c],
  'i64.and': [0x83],
  'i64.or': [0x84],
  'i64.xor': [0x85],
  'i64.shl': [0x86],
  'i64.shr_u': [0x88],
  'i32.wrap_i64': [0xa7],
  'i64.extend_i32_u': [0xad],
  'v128.load': [0xfd, 0x00],
  'i8x16.splat': [0xfd, 0x0f],
  'i8x16.eq': [0xfd, 0x23],
  'i8x16.bitmask': [0xfd, 0x64],
}
const types: Readonly<Record<string, number>> = { i32: 0x7f, i64: 0x7e, v128: 0x7b }
const noResult = 0x40
const function_ = 0x60

function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)]
}

/** Signed LEB128; also of `-0x...`, which BigInt does not read. */
function signed(text: string): number[] {
  let value = text.startsWith('-') ? -BigInt(text.slice(1)) : BigInt(text)
  const bytes: number[] = []
  for (;;) {
    const low = Number(value & 0x7fn)
    value >>= 7n
    const isLast = value === (low < 0x40 ? 0n : -1n)
    bytes.push(isLast ? low : low | 0x80)
    if (isLast) return bytes
  }
}

function section(id: number, content: readonly number[]): number[] {
  return [id, ...unsigned(content.length), ...content]
}

/** `name` exported as the first of its kind. */
function exported(name: string, kind: number): number[] {
  return [...unsigned(name.length), ...new TextEncoder().encode(name), kind, 0]
}

function typeOf(name: string | undefined): number {
  const found = types[name ?? '']
  if (found === undefined) throw new Error(`unknown type ${name}`)
  return found
}

/** The instructions of one function. Labels and locals are named. */
function instructions(words: readonly string[], locals: readonly string[]): number[] {
  const code: number[] = []
  const labels: string[] = []
  let at = 0
  const next = () => words[at++] ?? ''
  while (at < words.length) {
    const name = next()
    const opcode = opcodes[name]
    if (opcode === undefined) throw new Error(`unknown instruction ${name}`)
    code.push(...opcode)
    if (name === 'block' || name === 'loop' || name === 'if') {
      labels.push(next())
      code.push(noResult)
    } else if (name === 'end') labels.pop()
    else if (name.startsWith('br')) code.push(labels.length - 1 - labels.lastIndexOf(next()))
    else if (name.startsWith('local.')) code.push(locals.indexOf(next()))
    else if (name.endsWith('.const')) code.push(...signed(next()))
    else if (name === 'v128.load') {
      const offset = words[at]?.startsWith('offset=') ? Number(next().slice(7)) : 0
      // Aligned to 2 ** 4 bytes unless specified.
      code.push(4, ...unsigned(offset))
    }
  }
  return [...code, 0x0b]
}

/** The binary form of `text`. Throws an Error if that contains anything unknown here. */
export function assemble(text: string): Uint8Array<ArrayBuffer> {
  const plain = text.replaceAll(/;;.*/g, '')
  const memory = /\(memory \(export "(\w+)"\) (\d+)\)/.exec(plain)
  const found = /\(func \(export "(\w+)"\)([^]*)\)\s*\)\s*$/.exec(plain)
  if (memory === null || found === null) throw new Error('not one memory and one function')
  const [, name = '', body = ''] = found
  const declared = [...body.matchAll(/\((param|local) (\$\w+) (\w+)\)/g)]
  const results = [...body.matchAll(/\(result (\w+)\)/g)].map(([, type]) => typeOf(type))
  const of = (kind: string) => declared.filter(([, each]) => each === kind)
  const parameters = of('param').map(([, , , type]) => typeOf(type))
  const locals = of('local').map(([, , , type]) => [1, typeOf(type)])
  const words = body.replaceAll(/\([^)]*\)/g, '').split(/\s+/)
  const code = instructions(
    words.filter((word) => word !== ''),
    declared.map(([, , local = '']) => local),
  )
  const whole = [...unsigned(locals.length), ...locals.flat(), ...code]
  const signature = [function_, parameters.length, ...parameters, results.length, ...results]
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, ...signature]),
    ...section(3, [1, 0]),
    ...section(5, [1, 0, ...unsigned(Number(memory[2]))]),
    ...section(7, [2, ...exported(memory[1] ?? '', 2), ...exported(name, 0)]),
    ...section(10, [1, ...unsigned(whole.length), ...whole]),
  ])
}
