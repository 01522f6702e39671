import { renderFieldTable, renderSchemaTable } from './field-table.ts'
import { describeType, type Schema } from './schema-type.ts'

/** The parts of an OpenAPI operation that Eyrie's documents use. */
export interface Operation {
  summary: string
  description?: string
  parameters?: Parameter[]
  requestBody?: { content: Content }
  /** By HTTP status. */
  responses: Record<string, { description: string; content?: Content }>
}

interface Parameter {
  name: string
  /** Where the request has it, such as `path` or `query`. */
  in: string
  required?: boolean
  schema?: Schema
}

/** The schemas of a body, by media type. */
type Content = Record<string, { schema?: Schema }>

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
  const { summary, description, parameters, requestBody } = operation
  const successes = listResponses(operation).filter(response => !isError(response))
  const errors = listErrors(operation).filter(error => !commonErrors.has(error))
  return joinParagraphs(
    `### \`${title}\``,
    `${summary}.`,
    description,
    parameters && renderParameters(parameters),
    requestBody && renderContent('Body', requestBody.content),
    ...successes.map(({ status, content }) =>
      content
        ? renderContent(`**${status}**`, content, unwrapResponse)
        : `**${status}** without a body`,
    ),
    errors.join('\n'),
  )
}

/** Returns the error responses of an operation as list items. */
export const listErrors = (operation: Operation): string[] =>
  listResponses(operation)
    .filter(isError)
    .map(({ status, description }) => `- **${status}** ${description}`)

/** Joins the parts of a page. Empty parts are omitted. */
export const joinParagraphs = (...parts: (string | undefined)[]): string =>
  parts.filter(Boolean).join('\n\n')

const listResponses = ({ responses }: Operation) =>
  Object.entries(responses).map(([status, response]) => ({ status, ...response }))

const isError = ({ status }: { status: string }) => Number(status) >= 400

function renderParameters(parameters: Parameter[]): string {
  const rows = parameters.map(({ name, in: place, required = false, schema = {} }) => ({
    labels: [`\`${name}\``, place],
    schema,
    required,
  }))
  return renderSchemaTable(['Parameter', 'In'], rows)
}

/** Renders the first media type of a body. Any others have the same content. */
function renderContent(
  name: string,
  content: Content,
  unwrap = (schema: Schema) => schema,
): string {
  const [mediaType = ''] = Object.keys(content)
  const schema = content[mediaType]?.schema ?? {}
  if (mediaType !== 'application/json') {
    return joinParagraphs(`${name}: \`${mediaType}\``, renderFieldTable(schema))
  }
  const body = unwrap(schema)
  return joinParagraphs(`${name}: ${describeType(body)}`, renderFieldTable(body))
}
