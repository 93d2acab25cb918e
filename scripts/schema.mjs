// Writes the generated files: config.schema.json, the defaults for a start without a file, and the schema of a new SQLite database.

import { Database } from 'bun:sqlite'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { configJsonSchema, defaultSettings } from '../src/config/json-schema.ts'
import { readMigrations } from '../src/store/migrate.ts'

const at = (path) => new URL(`../${path}`, import.meta.url)

function write(path, value) {
  writeFileSync(at(path), `${JSON.stringify(value, null, 2)}\n`)
}

/** The SQL of everything that the migrations make, with the rows they insert. */
function sqliteSchema() {
  const folder = fileURLToPath(at('src/store/migrations'))
  const migrations = readMigrations(folder, `${folder}/sqlite`)
  const database = new Database(':memory:')
  for (const { sql } of migrations) database.run(sql)
  const made = database
    .query('SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid')
    .all()
  const of = (kind) => made.filter(({ type }) => type === kind)
  const first = `-- The tables, rows, indexes and triggers of ${migrations.length} migrations together; \`npm run schema\` writes this file.`
  const statements = [
    ...of('table').flatMap(({ name, sql }) => [sql, ...rowsOf(database, name)]),
    // After the rows, as triggers may act on inserts.
    ...[...of('index'), ...of('trigger')].map(({ sql }) => sql),
  ]
  return [first, ...statements.map((sql) => `${sql};`), ''].join('\n')
}

function rowsOf(database, table) {
  return database
    .query(`SELECT * FROM "${table}"`)
    .values()
    .map((row) => `INSERT INTO "${table}" VALUES (${row.map(literal).join(', ')})`)
}

function literal(value) {
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)
}

write('config.schema.json', configJsonSchema())
write('src/config/defaults.json', defaultSettings())
writeFileSync(at('src/store/sqlite-schema.sql'), sqliteSchema())
