import { renderDefault, renderFieldTable, renderTable } from './field-table.ts'
import { describeType, type Schema } from './schema-type.ts'

interface Content {
  schema?: Schema
}

/** The parts of an OpenAPI operation that Eyrie's documents use. */
export interface Operation {
  summary: string
  description?: string
  parameters?: { name: string; in: string; required?: boolean; schema?: Schema }[]
  requestBody?: { content: Record<string, Content> }
  responses: Record<string, { description: string; content?: Record<string, Content> }>
}

export interface OperationOptions {
  /** Errors that the page lists only once, for all operations. */
  commonErrors: ReadonlySet<string>
  /** Extracts the part of a response schema to describe. */
  unwrapResponse(schema: Schema): Schema
}

/**
 * Renders the section of an operation in the reference: parameters, request body, responses and
 * errors, in Markdown.
 */
export function renderOperation(
  title: string,
  operation: Operation,
  { commonErrors, unwrapResponse }: OperationOptions,
): string {
  const { summary, description, parameters, requestBody, responses } = operation
  const successes = Object.entries(responses).filter(response => !isErrorResponse(response))
  const errors = listErrors(operation).filter(error => !commonErrors.has(error))
  return joinParagraphs(
    `### \`${title}\``,
    `${summary}.`,
    description,
    parameters && renderParameters(parameters),
    ...(requestBody ? renderContent('Body', requestBody.content) : []),
    ...successes.flatMap(([status, { content }]) =>
      content
        ? renderContent(`**${status}**`, content, unwrapResponse)
        : [`**${status}** without a body`],
    ),
    errors.join('\n'),
  )
}

/** Returns the error responses of an operation as list items. */
export const listErrors = ({ responses }: Operation) =>
  Object.entries(responses)
    .filter(isErrorResponse)
    .map(([status, { description }]) => `- **${status}** ${description}`)

/** Joins the parts of a page. Empty parts are omitted. */
export const joinParagraphs = (...parts: (string | undefined)[]) =>
  parts.filter(Boolean).join('\n\n')

const isErrorResponse = ([status]: [string, unknown]) => Number(status) >= 400

/** Renders the first media type. Other media types have the same content. */
function renderContent(
  name: string,
  content: Record<string, Content>,
  unwrap = (schema: Schema) => schema,
): string[] {
  const [type, { schema = {} } = {}] = Object.entries(content)[0] ?? []
  if (type !== 'application/json') return [`${name}: \`${type}\``, renderFieldTable(schema)]
  const described = unwrap(schema)
  return [`${name}: ${describeType(described)}`, renderFieldTable(described)]
}

function renderParameters(parameters: NonNullable<Operation['parameters']>): string {
  const hasMeanings = parameters.some(({ schema }) => schema?.description)
  const head = ['Parameter', 'In', 'Value', 'Default', ...(hasMeanings ? ['Meaning'] : [])]
  const rows = parameters.map(({ name, in: place, required = false, schema = {} }) => [
    `\`${name}\``,
    place,
    describeType(schema),
    renderDefault(schema, required),
    ...(hasMeanings ? [schema.description ?? ''] : []),
  ])
  return renderTable(head, rows)
}
