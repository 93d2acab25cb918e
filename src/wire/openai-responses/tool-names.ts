// Names of tools that stand in namespaces, as formats without namespaces can have them.

/** Gives each tool of a request a name of its own; the same for the same tools in the same order. */
export class ToolNames {
  private readonly names = new Map<string, string>()
  private readonly taken: Set<string>
  /** Numbers given so far to tell such names apart. */
  private twins = 1

  /** `plain`: names of tools that stand in no namespace, which stay as they are. */
  constructor(plain: Iterable<string>) {
    this.taken = new Set(plain)
  }

  /** The name of a tool in a namespace. */
  inside(namespace: string, name: string): string {
    const joint = namespace.endsWith('__') ? '' : '__'
    return this.claim(`${namespace}\n${name}`, namespace + joint + name)
  }

  /** The name of a tool that the format knows by its type. */
  ofType(type: string): string {
    return this.claim(`\n${type}`, type)
  }

  private claim(key: string, wanted: string): string {
    const known = this.names.get(key)
    if (known !== undefined) return known
    let name = wanted
    while (this.taken.has(name)) name = `${wanted}_${++this.twins}`
    this.taken.add(name)
    this.names.set(key, name)
    return name
  }
}
