import { code, type Schema, typeOf } from './schema.ts'

interface Row {
  field: string
  schema: Schema
  required: boolean
}

const DEEPEST = 6

/** A table of an object's fields; those of objects inside stand below theirs, as `outer.inner` and `list[].inner`. */
export function fieldTable(schema: Schema): string {
  const rows = rowsOf(schema, '', DEEPEST)
  if (rows.length === 0) return ''
  const hasText = rows.some(({ schema }) => schema.description)
  const head = ['Field', 'Value', 'Default', ...(hasText ? ['Meaning'] : [])]
  return table(
    head,
    rows.map(({ field, schema, required }) => [
      `\`${field}\``,
      typeOf(schema),
      defaultOf(schema, required),
      ...(hasText ? [schema.description ?? ''] : []),
    ]),
  )
}

export function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) =>
    `| ${cells.map(cell => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

const defaultOf = (schema: Schema, required: boolean) =>
  schema.default !== undefined ? code(schema.default) : required ? '*required*' : ''

function rowsOf(schema: Schema, path: string, depth: number): Row[] {
  const { properties = {}, required = [], additionalProperties } = objectIn(schema) ?? {}
  const own = Object.entries(properties).flatMap(([name, field]) => {
    const at = `${path}${name}`
    return [{ field: at, schema: field, required: required.includes(name) }, ...inside(field, at, depth)]
  })
  return typeof additionalProperties === 'object'
    ? [...own, ...inside(additionalProperties, `${path}{key}`, depth)]
    : own
}

function inside(field: Schema, at: string, depth: number): Row[] {
  if (depth === 0) return []
  if (field.items) return inside(field.items, `${at}[]`, depth - 1)
  return objectIn(field) ? rowsOf(field, `${at}.`, depth - 1) : []
}

/** The object that a schema is. Of several choices, all their fields: required is what every one of them requires. */
function objectIn(schema: Schema): Schema | undefined {
  if (schema.properties || typeof schema.additionalProperties === 'object') return schema
  const objects = (schema.anyOf ?? schema.oneOf ?? []).flatMap(choice => objectIn(choice) ?? [])
  if (objects.length < 2) return objects[0]
  return {
    properties: Object.assign({}, ...objects.map(({ properties }) => properties)),
    required: (objects[0]!.required ?? []).filter(name =>
      objects.every(({ required }) => required?.includes(name)),
    ),
  }
}
