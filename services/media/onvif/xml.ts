import { XMLParser, XMLValidator } from 'fast-xml-parser'

/** An XML element: text, or its children by local name. Attributes begin with `@`. */
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
 * Parses a document from the network. Throws an Error that explains what is invalid. A document type declaration, which SOAP
 * forbids, is rejected before any entity is expanded.
 */
export function parseXml(text: string): Xml {
  if (/<!(DOCTYPE|ENTITY)/i.test(text)) throw new Error('it declares a document type, which SOAP forbids')
  const valid = XMLValidator.validate(text)
  if (valid !== true) throw new Error(`it is not valid XML: ${valid.err.msg} in line ${valid.err.line}`)
  return parser.parse(text) as Xml
}

/** Returns all elements at a path. */
export function findAll(xml: Xml | undefined, ...path: string[]): Xml[] {
  let elements: Xml[] = xml === undefined ? [] : [xml]
  for (const name of path) elements = elements.flatMap(element => getChildren(element, name))
  return elements
}

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
  const number = Number(findText(xml, ...path) ?? Number.NaN)
  return Number.isFinite(number) ? number : undefined
}

function getChildren(xml: Xml, name: string): Xml[] {
  if (typeof xml === 'string' || !Object.hasOwn(xml, name)) return []
  const child = xml[name]!
  return Array.isArray(child) ? child : [child]
}

const ESCAPES: Record<string, string> = { '<': '&lt;', '>': '&gt;', '&': '&amp;', '"': '&quot;' }

export const escapeXml = (text: string): string => text.replace(/[<>&"]/g, character => ESCAPES[character]!)
