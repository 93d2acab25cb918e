// Reads the tree and extracts from each source file, by TypeScript's own parser, the facts that the tidy rules check.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as ts from 'typescript/unstable/ast'
import { API } from 'typescript/unstable/async'
import { createVirtualFileSystem } from 'typescript/unstable/fs'

/** A file by its path from the repository's root, with forward slashes. */
export interface TreeFile {
  readonly path: string
  readonly text: string
}

export interface Import {
  readonly specifier: string
  /** The imported names; empty for a default, namespace, dynamic or bare import. */
  readonly names: readonly string[]
  readonly typeOnly: boolean
  readonly line: number
}

/** Length in lines from the first to the last of the function, without comments before it. */
export interface FunctionFact {
  readonly name: string
  readonly line: number
  readonly lines: number
}

/** An interface, an object type, or a class, with the number of its own methods. */
export interface ShapeFact {
  readonly kind: 'interface' | 'class'
  readonly name: string
  readonly line: number
  readonly methods: number
}

/** `process.env` is {name: 'process', member: 'env'}; a name used alone has the member ''. */
export interface Reference {
  readonly name: string
  readonly member: string
  /** Declared or imported by the file itself, so not the global of that name. */
  readonly own: boolean
  readonly line: number
}

/** Only the file's own declarations: names re-exported from other files are imports. */
export interface Export {
  readonly name: string
  readonly line: number
}

export interface TextFact {
  readonly text: string
  readonly line: number
}

export interface Source extends TreeFile {
  readonly imports: readonly Import[]
  readonly exports: readonly Export[]
  readonly functions: readonly FunctionFact[]
  readonly shapes: readonly ShapeFact[]
  readonly references: readonly Reference[]
  /** What the file declares: types, functions, variables, parameters, members. */
  readonly names: readonly TextFact[]
  readonly strings: readonly TextFact[]
  readonly comments: readonly TextFact[]
  /** The file only re-exports what other files export. */
  readonly isBarrel: boolean
}

const leftOut = /^(node_modules|\.git|data|tmp|console\/(dist|node_modules))$|\/node_modules$/
const readable = /\.(ts|tsx|mjs|js|json|md|ya?ml|sh|toml|css|html|lua|c)$|^bin\/|^\.ci\/|^[A-Z]+$/
/** Only the names of these files are used, since pages link to them. */
const picture = /\.(png|svg)$/
const parsed = /\.(ts|tsx|mjs)$/

/** Every text or picture file of the project that git would keep. */
export function readTree(root: string, folder = ''): TreeFile[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (leftOut.test(path)) return []
    if (entry.isDirectory()) return readTree(root, path)
    if (entry.isFile() && picture.test(path)) return [{ path, text: '' }]
    if (!entry.isFile() || !readable.test(path)) return []
    return [{ path, text: readFileSync(join(root, path), 'utf8') }]
  })
}

/** Parses the TypeScript and JavaScript among `files`. Throws if the compiler does not know one. */
export async function parseSources(files: readonly TreeFile[]): Promise<Source[]> {
  const sources = files.filter((file) => parsed.test(file.path) && !file.path.includes('fixtures/'))
  if (sources.length === 0) return []
  const compilerOptions = { noLib: true, noResolve: true, allowJs: true, types: [] }
  const config = { compilerOptions, files: sources.map((file) => file.path) }
  const virtual: Record<string, string> = { '/tree/tsconfig.json': JSON.stringify(config) }
  for (const file of sources) virtual[`/tree/${file.path}`] = file.text
  const api = new API({ cwd: '/tree', fs: createVirtualFileSystem(virtual) })
  try {
    const snapshot = await api.updateSnapshot({ openProjects: ['/tree/tsconfig.json'] })
    const program = snapshot.getProject('/tree/tsconfig.json')?.program
    return await Promise.all(
      sources.map(async (file) => {
        const tree = await program?.getSourceFile(`/tree/${file.path}`)
        if (tree === undefined) throw new Error(`${file.path} could not be parsed`)
        return collect(file, tree)
      }),
    )
  } finally {
    await api.close()
  }
}

interface Facts {
  readonly tree: ts.SourceFile
  readonly imports: Import[]
  readonly functions: FunctionFact[]
  readonly shapes: ShapeFact[]
  readonly references: Omit<Reference, 'own'>[]
  readonly names: TextFact[]
  readonly strings: TextFact[]
  readonly declared: Set<string>
  /** Places where text is not code, so that a `//` there does not begin a comment. */
  readonly literals: [number, number][]
}

function collect(file: TreeFile, tree: ts.SourceFile): Source {
  const facts: Facts = {
    tree,
    imports: [],
    functions: [],
    shapes: [],
    references: [],
    names: [],
    strings: [],
    declared: new Set(),
    literals: [],
  }
  visit(tree, tree, facts)
  return {
    path: file.path,
    text: file.text,
    imports: facts.imports,
    exports: tree.statements.flatMap((statement) => exportsOf(statement, tree)),
    functions: facts.functions,
    shapes: facts.shapes,
    references: facts.references.map((one) => ({ ...one, own: facts.declared.has(one.name) })),
    names: facts.names,
    strings: facts.strings,
    comments: findComments(file.text, facts),
    isBarrel: isBarrel(tree),
  }
}

function visit(node: ts.Node, parent: ts.Node, facts: Facts): void {
  noteImport(node, facts)
  noteFunction(node, parent, facts)
  noteShape(node, parent, facts)
  noteLiteral(node, facts)
  noteDeclaration(node, facts)
  noteName(node, parent, facts)
  if (ts.isIdentifier(node)) noteReference(node, parent, facts)
  // Names in import and export lists belong to another file.
  if (ts.isImportDeclaration(node) || (ts.isExportDeclaration(node) && node.moduleSpecifier)) {
    noteImportedNames(node, facts)
    return
  }
  node.forEachChild((child) => visit(child, node, facts))
}

function noteImport(node: ts.Node, { tree, imports }: Facts): void {
  const add = (target: ts.Node | undefined, names: string[], typeOnly: boolean): void => {
    if (target === undefined || !ts.isStringLiteralLikeNode(target)) return
    imports.push({ specifier: target.text, names, typeOnly, line: lineOf(tree, node) })
  }
  if (ts.isImportDeclaration(node)) {
    const bindings = node.importClause?.namedBindings
    const names = bindings && ts.isNamedImports(bindings) ? bindings.elements : []
    const typeOnly = /^import\s+type\b/.test(node.getText(tree))
    add(
      node.moduleSpecifier,
      names.map((name) => (name.propertyName ?? name.name).text),
      typeOnly,
    )
  } else if (ts.isExportDeclaration(node)) {
    add(node.moduleSpecifier, [], node.isTypeOnly)
  } else if (ts.isImportTypeNode(node)) {
    add(ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, [], true)
  } else if (
    ts.isCallExpression(node) &&
    /^(import|require)$/.test(node.expression.getText(tree))
  ) {
    add(node.arguments[0], [], false)
  }
}

function noteImportedNames(node: ts.ImportDeclaration | ts.ExportDeclaration, facts: Facts): void {
  const { moduleSpecifier } = node
  if (moduleSpecifier)
    facts.literals.push([moduleSpecifier.getStart(facts.tree), moduleSpecifier.end])
  if (!ts.isImportDeclaration(node)) return
  const clause = node.importClause
  if (clause?.name) facts.declared.add(clause.name.text)
  const bindings = clause?.namedBindings
  if (bindings && ts.isNamespaceImport(bindings)) facts.declared.add(bindings.name.text)
  if (bindings && ts.isNamedImports(bindings)) {
    for (const element of bindings.elements) facts.declared.add(element.name.text)
  }
}

function noteFunction(node: ts.Node, parent: ts.Node, { tree, functions }: Facts): void {
  if (!ts.isFunctionLikeDeclaration(node) || !node.body || isHeading(node, parent, tree)) {
    return
  }
  const line = lineOf(tree, node)
  const last = tree.getLineAndCharacterOfPosition(node.end).line + 1
  functions.push({ name: nameOf(node, parent, tree), line, lines: last - line + 1 })
}

/** A `describe` callback, or a function that registers tests, only groups code and is not measured as a function. */
function isHeading(node: ts.Node, parent: ts.Node, tree: ts.SourceFile): boolean {
  if (ts.isCallExpression(parent) && parent.arguments.some((argument) => argument === node)) {
    return /^describe\b/.test(parent.expression.getText(tree))
  }
  const body = ts.isFunctionLikeDeclaration(node) ? node.body : undefined
  return body !== undefined && ts.isBlock(body) && registersTests(body, tree)
}

function registersTests(node: ts.Node, tree: ts.SourceFile): boolean {
  if (ts.isExpressionStatement(node)) {
    return /^(describe|test|it)\b[^=]*?\(/.test(node.getText(tree))
  }
  if (!ts.isBlock(node) && !ts.isForOfStatement(node) && !ts.isIfStatement(node)) return false
  return node.forEachChild((child) => registersTests(child, tree) || undefined) ?? false
}

function nameOf(node: ts.FunctionLikeDeclaration, parent: ts.Node, tree: ts.SourceFile): string {
  const own = 'name' in node ? node.name : undefined
  if (own) return own.getText(tree)
  if (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent)) {
    return parent.name.getText(tree)
  }
  return ts.isConstructorDeclaration(node) ? 'constructor' : 'a function'
}

function noteShape(node: ts.Node, parent: ts.Node, { tree, shapes }: Facts): void {
  const isClass = ts.isClassLikeDeclaration(node)
  if (!isClass && !ts.isInterfaceDeclaration(node) && !ts.isTypeLiteralNode(node)) return
  const owner = ts.isTypeLiteralNode(node) ? parent : node
  const isNamed = ts.isInterfaceDeclaration(owner) || ts.isTypeAliasDeclaration(owner)
  const named = isNamed || ts.isClassLikeDeclaration(owner) ? owner.name : undefined
  // A getter and a setter with one name count once.
  const methods = new Set(
    [...node.members].filter(isMethod).map((member) => memberName(member)?.getText(tree)),
  ).size
  const kind = isClass ? 'class' : 'interface'
  const name = named?.getText(tree) ?? 'without a name'
  shapes.push({ kind, name, line: lineOf(tree, node), methods })
}

function memberName(member: ts.ClassElement | ts.TypeElement): ts.Node | undefined {
  return 'name' in member ? (member.name as ts.Node) : undefined
}

function isMethod(member: ts.Node): boolean {
  if (ts.isPropertySignatureDeclaration(member)) return isFunctionType(member.type)
  if (ts.isPropertyDeclaration(member)) {
    const value = member.initializer
    const isFunction = value && (ts.isArrowFunction(value) || ts.isFunctionExpression(value))
    return isFunction || isFunctionType(member.type)
  }
  return (
    ts.isMethodSignatureDeclaration(member) ||
    ts.isMethodDeclaration(member) ||
    ts.isAccessorDeclaration(member)
  )
}

/** `(a: A) => B`, also in brackets or in a union with `undefined` or `null`. */
function isFunctionType(type: ts.TypeNode | undefined): boolean {
  if (type === undefined) return false
  if (ts.isParenthesizedTypeNode(type)) return isFunctionType(type.type)
  if (ts.isUnionTypeNode(type)) return type.types.some(isFunctionType)
  return ts.isFunctionTypeNode(type)
}

function noteLiteral(node: ts.Node, { tree, strings, literals }: Facts): void {
  const isText =
    ts.isStringLiteralLikeNode(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTail(node)
  if (!isText && !ts.isRegularExpressionLiteral(node) && !ts.isJsxText(node)) return
  literals.push([node.getStart(tree), node.end])
  if (isText) strings.push({ text: node.text, line: lineOf(tree, node) })
}

function noteDeclaration(node: ts.Node, { declared }: Facts): void {
  const declares =
    ts.isVariableDeclaration(node) ||
    ts.isParameterDeclaration(node) ||
    ts.isBindingElement(node) ||
    ts.isFunctionDeclaration(node) ||
    ts.isClassDeclaration(node)
  if (declares && node.name && ts.isIdentifier(node.name)) declared.add(node.name.text)
}

function noteName(node: ts.Node, parent: ts.Node, { tree, names }: Facts): void {
  if (!ts.isIdentifier(node) && !ts.isPrivateIdentifier(node)) return
  if (!('name' in parent) || parent.name !== node) return
  if (ts.isPropertyAccessExpression(parent) || ts.isShorthandPropertyAssignment(parent)) return
  names.push({ text: node.text, line: lineOf(tree, node) })
}

function noteReference(node: ts.Identifier, parent: ts.Node, facts: Facts): void {
  const isMemberName =
    'name' in parent && parent.name === node && !ts.isShorthandPropertyAssignment(parent)
  const isOtherName =
    (ts.isQualifiedName(parent) && parent.right === node) ||
    ('propertyName' in parent && parent.propertyName === node)
  const line = lineOf(facts.tree, node)
  if (isMemberName || isOtherName) {
    // A member of globalThis is the global itself.
    const whole = parent.getText(facts.tree)
    if (!/^(globalThis|global|self)\??\.\w+$/.test(whole)) return
    facts.references.push({ name: node.text, member: '', line })
    return
  }
  facts.references.push({ name: node.text, member: memberOf(node, parent, facts.tree), line })
}

function memberOf(node: ts.Identifier, parent: ts.Node, tree: ts.SourceFile): string {
  if (ts.isPropertyAccessExpression(parent) && parent.expression === node) return parent.name.text
  if (ts.isQualifiedName(parent) && parent.left === node) return parent.right.text
  if (ts.isElementAccessExpression(parent) && parent.expression === node) {
    return parent.argumentExpression.getText(tree).replaceAll(/['"`]/g, '')
  }
  return ''
}

function findComments(text: string, { tree, literals }: Facts): TextFact[] {
  let code = ''
  let end = 0
  for (const [from, to] of literals.sort(([a], [b]) => a - b)) {
    code += text.slice(end, from) + ' '.repeat(to - from)
    end = to
  }
  code += text.slice(end)
  return [...code.matchAll(/\/\/[^\n]*|\/\*[\s\S]*?\*\//g)].map((match) => ({
    text: match[0],
    line: tree.getLineAndCharacterOfPosition(match.index).line + 1,
  }))
}

function exportsOf(statement: ts.Statement, tree: ts.SourceFile): Export[] {
  if (!/^export (?!default\b)/.test(statement.getText(tree))) return []
  const declared = ts.isVariableStatement(statement)
    ? statement.declarationList.declarations
    : [statement]
  return declared.flatMap((node) =>
    'name' in node && node.name
      ? [{ name: node.name.getText(tree), line: lineOf(tree, node) }]
      : [],
  )
}

function isBarrel({ statements }: ts.SourceFile): boolean {
  const exports = statements.filter((statement) => ts.isExportDeclaration(statement))
  return (
    exports.length > 0 &&
    statements.every((node) => ts.isExportDeclaration(node) || ts.isImportDeclaration(node))
  )
}

function lineOf(tree: ts.SourceFile, node: ts.Node): number {
  return tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1
}
