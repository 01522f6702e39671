import { describeType, renderCode, type Schema } from './schema-type.ts'

/** A row of a field table. */
interface Row {
  /** Path of the field, such as `outer.inner`. */
  field: string
  schema: Schema
  required: boolean
}

/** Fields nested deeper are omitted, because schemas may be recursive. */
const MAX_DEPTH = 6

/**
 * Renders a Markdown table of the fields of an object, from its JSON Schema. Nested fields are
 * named `outer.inner` and `list[].inner`.
 */
export function renderFieldTable(schema: Schema): string {
  const rows = collectRows(schema, '', MAX_DEPTH)
  if (rows.length === 0) return ''
  const hasMeanings = rows.some(({ schema }) => schema.description)
  const head = ['Field', 'Value', 'Default', ...(hasMeanings ? ['Meaning'] : [])]
  const cells = rows.map(({ field, schema, required }) => [
    `\`${field}\``,
    describeType(schema),
    renderDefault(schema, required),
    ...(hasMeanings ? [schema.description ?? ''] : []),
  ])
  return renderTable(head, cells)
}

/** Renders a Markdown table. */
export function renderTable(head: string[], rows: string[][]): string {
  const escapeCell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
  const renderRow = (cells: string[]) => `| ${cells.map(escapeCell).join(' | ')} |`
  const separator = head.map(() => '---')
  return [head, separator, ...rows].map(renderRow).join('\n')
}

/** Renders the cell for the default of a field or parameter. */
export function renderDefault(schema: Schema, required: boolean): string {
  if (schema.default !== undefined) {
    const value = renderCode(schema.default)
    return schema.defaultFrom === 'model' ? `${value}, or the value on the model's card` : value
  }
  return required ? '*required*' : ''
}

/** Returns the rows of an object and of its nested objects. `prefix` is the path of the object. */
function collectRows(schema: Schema, prefix: string, depth: number): Row[] {
  const { properties = {}, required = [], additionalProperties } = findObjectSchema(schema) ?? {}
  const rows: Row[] = []
  for (const [name, field] of Object.entries(properties)) {
    const path = `${prefix}${name}`
    rows.push({ field: path, schema: field, required: required.includes(name) })
    rows.push(...collectNestedRows(field, path, depth))
  }
  if (typeof additionalProperties === 'object') {
    rows.push(...collectNestedRows(additionalProperties, `${prefix}{key}`, depth))
  }
  return rows
}

function collectNestedRows(field: Schema, path: string, depth: number): Row[] {
  if (depth === 0) return []
  if (field.items) return collectNestedRows(field.items, `${path}[]`, depth - 1)
  return findObjectSchema(field) ? collectRows(field, `${path}.`, depth - 1) : []
}

/**
 * Returns the object schema of a value, if the value can be an object. The objects of a union are
 * merged; a field is required if all of them require it.
 */
function findObjectSchema(schema: Schema): Schema | undefined {
  if (schema.properties || typeof schema.additionalProperties === 'object') return schema
  const objects = (schema.anyOf ?? schema.oneOf ?? []).flatMap(
    choice => findObjectSchema(choice) ?? [],
  )
  if (objects.length < 2) return objects[0]
  return {
    properties: Object.assign({}, ...objects.map(({ properties }) => properties)),
    required: (objects[0]!.required ?? []).filter(name =>
      objects.every(({ required }) => required?.includes(name)),
    ),
  }
}
