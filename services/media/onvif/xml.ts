import { XMLParser, XMLValidator } from 'fast-xml-parser'

/** An element of a document: a text, or children by their names without namespaces; attributes begin with `@`. */
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
 * Reads a document from the network. One that declares entities is refused before anything is expanded: SOAP forbids
 * it. Throws an Error that says what is wrong.
 */
export function readXml(text: string): Xml {
  if (/<!(DOCTYPE|ENTITY)/i.test(text)) throw new Error('it declares a document type, which SOAP forbids')
  const valid = XMLValidator.validate(text)
  if (valid !== true) throw new Error(`it is no XML: ${valid.err.msg} in line ${valid.err.line}`)
  return parser.parse(text) as Xml
}

/** Every element at this path, of which any may stand once, several times or not at all. */
export function allAt(xml: Xml | undefined, ...path: string[]): Xml[] {
  let found: Xml[] = xml === undefined ? [] : [xml]
  for (const name of path) found = found.flatMap(each => childrenOf(each, name))
  return found
}

export const firstAt = (xml: Xml | undefined, ...path: string[]): Xml | undefined => allAt(xml, ...path)[0]

/** The text at this path; undefined where there is none. */
export function textAt(xml: Xml | undefined, ...path: string[]): string | undefined {
  const found = firstAt(xml, ...path)
  const text = typeof found === 'object' ? found['#text'] : found
  return typeof text === 'string' ? text.trim() || undefined : undefined
}

/** The whole number at this path. */
export function numberAt(xml: Xml | undefined, ...path: string[]): number | undefined {
  const number = Number(textAt(xml, ...path) ?? Number.NaN)
  return Number.isFinite(number) ? number : undefined
}

function childrenOf(xml: Xml, name: string): Xml[] {
  if (typeof xml === 'string' || !Object.hasOwn(xml, name)) return []
  const child = xml[name]!
  return Array.isArray(child) ? child : [child]
}

const ESCAPES: Record<string, string> = { '<': '&lt;', '>': '&gt;', '&': '&amp;', '"': '&quot;' }

export const escapeXml = (text: string): string => text.replace(/[<>&"]/g, sign => ESCAPES[sign]!)
