import { XMLParser, XMLValidator } from 'fast-xml-parser'

const ESCAPES: Record<string, string> = { '<': '&lt;', '>': '&gt;', '&': '&amp;', '"': '&quot;' }

/**
 * An element of a parsed XML document: its text, or its children by local name. The names of
 * attributes begin with `@`.
 */
export type Xml = string | { [name: string]: Xml | Xml[] }

const parser = new XMLParser({
  removeNSPrefix: true,
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseTagValue: false,
  parseAttributeValue: false,
  maxNestedTags: 64,
})

/**
 * Parses an XML document from the network. Throws an `Error` with the reason if it is invalid.
 * Document type declarations, which SOAP forbids, are rejected before any entity is expanded.
 */
export function parseXml(text: string): Xml {
  if (/<!(DOCTYPE|ENTITY)/i.test(text)) {
    throw new Error('it declares a document type, which SOAP forbids')
  }
  const valid = XMLValidator.validate(text)
  if (valid !== true) {
    throw new Error(`it is not valid XML: ${valid.err.msg} in line ${valid.err.line}`)
  }
  return parser.parse(text) as Xml
}

/** Returns all elements at a path of local names. */
export function findAll(xml: Xml | undefined, ...path: string[]): Xml[] {
  let elements: Xml[] = xml === undefined ? [] : [xml]
  for (const name of path) elements = elements.flatMap(element => getChildren(element, name))
  return elements
}

/** Returns the first element at a path. */
export const findFirst = (xml: Xml | undefined, ...path: string[]): Xml | undefined =>
  findAll(xml, ...path)[0]

/** Returns the trimmed text at a path; undefined if missing or empty. */
export function findText(xml: Xml | undefined, ...path: string[]): string | undefined {
  const element = findFirst(xml, ...path)
  const text = typeof element === 'object' ? element['#text'] : element
  return typeof text === 'string' ? text.trim() || undefined : undefined
}

/** Returns the number at a path; undefined if missing or not a number. */
export function findNumber(xml: Xml | undefined, ...path: string[]): number | undefined {
  const text = findText(xml, ...path)
  if (text === undefined) return undefined
  const number = Number(text)
  return Number.isFinite(number) ? number : undefined
}

function getChildren(xml: Xml, name: string): Xml[] {
  if (typeof xml === 'string' || !Object.hasOwn(xml, name)) return []
  const child = xml[name]!
  return Array.isArray(child) ? child : [child]
}

/** Escapes text for use in an element or attribute. */
export const escapeXml = (text: string): string =>
  text.replace(/[<>&"]/g, character => ESCAPES[character]!)
