import { describeType, renderCode, type Schema } from './schema-type.ts'

interface Row {
  field: string
  schema: Schema
  required: boolean
}

const MAX_DEPTH = 6

/** Renders a table of the fields of an object. Nested fields are named `outer.inner` and `list[].inner`. */
export function renderFieldTable(schema: Schema): string {
  const rows = collectRows(schema, '', MAX_DEPTH)
  if (rows.length === 0) return ''
  const hasText = rows.some(({ schema }) => schema.description)
  const head = ['Field', 'Value', 'Default', ...(hasText ? ['Meaning'] : [])]
  return renderTable(
    head,
    rows.map(({ field, schema, required }) => [
      `\`${field}\``,
      describeType(schema),
      renderDefault(schema, required),
      ...(hasText ? [schema.description ?? ''] : []),
    ]),
  )
}

export function renderTable(head: string[], rows: string[][]): string {
  const line = (cells: string[]) =>
    `| ${cells.map(cell => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

const renderDefault = (schema: Schema, required: boolean) =>
  schema.default !== undefined ? renderCode(schema.default) : required ? '*required*' : ''

function collectRows(schema: Schema, path: string, depth: number): Row[] {
  const { properties = {}, required = [], additionalProperties } = findObjectSchema(schema) ?? {}
  const rows = Object.entries(properties).flatMap(([name, field]) => {
    const at = `${path}${name}`
    return [
      { field: at, schema: field, required: required.includes(name) },
      ...collectNestedRows(field, at, depth),
    ]
  })
  return typeof additionalProperties === 'object'
    ? [...rows, ...collectNestedRows(additionalProperties, `${path}{key}`, depth)]
    : rows
}

function collectNestedRows(field: Schema, at: string, depth: number): Row[] {
  if (depth === 0) return []
  if (field.items) return collectNestedRows(field.items, `${at}[]`, depth - 1)
  return findObjectSchema(field) ? collectRows(field, `${at}.`, depth - 1) : []
}

/** The object schema of a value. The variants of a union are merged; a field is required if all of them require it. */
function findObjectSchema(schema: Schema): Schema | undefined {
  if (schema.properties || typeof schema.additionalProperties === 'object') return schema
  const objects = (schema.anyOf ?? schema.oneOf ?? []).flatMap(choice => findObjectSchema(choice) ?? [])
  if (objects.length < 2) return objects[0]
  return {
    properties: Object.assign({}, ...objects.map(({ properties }) => properties)),
    required: (objects[0]!.required ?? []).filter(name =>
      objects.every(({ required }) => required?.includes(name)),
    ),
  }
}
