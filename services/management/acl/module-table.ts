import type { FieldErrors } from '@eyrie/contract/management/index'
import { isStorable } from '../db/schema/columns.ts'
import { fieldError, fieldErrors } from '../errors/field-errors.ts'
import type { Row } from './table-rows.ts'

// Parser of the module file, a table that an administrator uploads. Each row is a module of the
// user interface or a component of a module, with the roles that may use it. The columns are type,
// key, name, role, path and module_key, in this order.

/** A part of a module, such as a button. */
export interface Component {
  module_key: string
  component_key: number
  component_name: string
  roles: string[]
}

/** A page of the user interface. */
export interface Module {
  module_key: string
  module_name: string
  module_path: string
  roles: string[]
}

const COLUMNS = ['type', 'key', 'name', 'role', 'path', 'module_key'] as const
type Column = (typeof COLUMNS)[number]
type Fields = Record<Column, string>

/**
 * Postgres limits the size of an index entry. A key of this length fits even if every
 * character takes four bytes.
 */
const MAX_KEY_LENGTH = 255
/** Maximum of the Postgres type `integer`. */
const MAX_INTEGER = 2_147_483_647
const MAX_ERRORS = 100

/** The modules and components of the rows that were parsed so far. */
interface ModuleTable {
  /**
   * The keys of all modules in the file, including rows that follow: a component may precede its
   * module.
   */
  moduleKeys: ReadonlySet<string>
  modules: Map<string, Module>
  /** By module key and component key. */
  components: Map<string, Component>
}

/** Reports that a cell, or the row as a whole, is invalid. */
type Report = (column: Column | 'row', reason: string) => void

/**
 * Parses the rows of a module file. A header row is optional. Throws `EyrieError` (`syntax`) with
 * the first error of each invalid cell.
 */
export function parseModules(
  rows: readonly Row[],
  roleKeys: readonly string[],
): { modules: Module[]; components: Component[] } {
  const body = rows.filter((row, index) => index > 0 || !isHeader(row))
  if (body.length === 0) {
    throw fieldError('modulefile', 'has no rows, which would delete all modules')
  }

  const table: ModuleTable = {
    moduleKeys: listModuleKeys(body),
    modules: new Map(),
    components: new Map(),
  }
  const errors: FieldErrors['fields'] = []
  for (const row of body) {
    for (const [column, reason] of parseRow(table, row, roleKeys)) {
      errors.push({ field: `modulefile.${row.number}.${column}`, reason })
    }
  }
  if (errors.length > 0) throw fieldErrors(errors.slice(0, MAX_ERRORS))

  return { modules: [...table.modules.values()], components: [...table.components.values()] }
}

/** A header row starts with `type`; its other cells are ignored. */
const isHeader = ({ cells }: Row) => cells[0]?.toLowerCase() === 'type'

const toFields = ({ cells }: Row) =>
  Object.fromEntries(COLUMNS.map((column, index) => [column, cells[index] ?? ''])) as Fields

function listModuleKeys(rows: readonly Row[]): Set<string> {
  const modules = rows.map(toFields).filter(({ type }) => type === 'mod')
  return new Set(modules.map(({ key }) => key))
}

/** Adds the module or component of a row to the table. Returns the first error of each column. */
function parseRow(table: ModuleTable, row: Row, roleKeys: readonly string[]): Map<string, string> {
  const errors = new Map<string, string>()
  const report: Report = (column, reason) => {
    if (!errors.has(column)) errors.set(column, reason)
  }

  const fields = toFields(row)
  if (row.cells.length > COLUMNS.length) {
    report('row', `has ${row.cells.length} columns, at most ${COLUMNS.length} are allowed`)
  }
  for (const column of COLUMNS) {
    if (!isStorable(fields[column])) report(column, 'must not contain the character NUL')
  }
  if (fields.name === '') report('name', 'must not be empty')

  const roles = parseRoles(fields.role, roleKeys, report)
  if (fields.type === 'mod') parseModule(table, fields, roles, report)
  else if (fields.type === 'comp') parseComponent(table, fields, roles, report)
  else report('type', 'must be mod for a module or comp for a component')
  return errors
}

/** Parses roles that are separated by `|`. */
function parseRoles(text: string, roleKeys: readonly string[], report: Report): string[] {
  const roles = text
    .split('|')
    .map(role => role.trim())
    .filter(role => role !== '')
  const unknown = roles.filter(role => !roleKeys.includes(role))
  if (unknown.length > 0) report('role', `unknown role ${unknown.join(', ')}`)
  return roles
}

function parseModule(
  { modules }: ModuleTable,
  fields: Fields,
  roles: string[],
  report: Report,
): void {
  const { key, name, path, module_key: moduleKey } = fields
  if (key === '') report('key', 'must not be empty')
  if (key.length > MAX_KEY_LENGTH) report('key', `has more than ${MAX_KEY_LENGTH} characters`)
  if (modules.has(key)) report('key', `duplicate module ${key}`)
  if (moduleKey !== '' && moduleKey !== key) {
    report('module_key', 'must be empty or equal to the key in the row of a module')
  }
  modules.set(key, { module_key: key, module_name: name, module_path: path, roles })
}

function parseComponent(
  { moduleKeys, components }: ModuleTable,
  { key, name, path, module_key: moduleKey }: Fields,
  roles: string[],
  report: Report,
): void {
  const componentKey = Number(key)
  if (!/^\d+$/.test(key) || componentKey > MAX_INTEGER) {
    report('key', `must be a whole number up to ${MAX_INTEGER} in the row of a component`)
  }
  if (path !== '') report('path', 'must be empty in the row of a component')
  const id = `${moduleKey} ${componentKey}`
  if (components.has(id)) report('key', `duplicate component ${key} of the module ${moduleKey}`)
  if (!moduleKeys.has(moduleKey)) report('module_key', `unknown module ${moduleKey}`)
  components.set(id, {
    module_key: moduleKey,
    component_key: componentKey,
    component_name: name,
    roles,
  })
}
