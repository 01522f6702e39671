/**
 * A component of a CycloneDX document (version 1.6, section "components"). `bom-ref` is its package
 * URL.
 */
export interface Component {
  type: 'library' | 'application'
  'bom-ref': string
  name: string
  version: string
  purl: string
  licenses?: License[]
  hashes?: { alg: 'SHA-512'; content: string }[]
}

type License = { expression: string } | { license: { name: string } }

/** A component with the `bom-ref` of each component that it uses. */
export interface DependentComponent {
  component: Component
  dependsOn: string[]
}

/** Returns a license as CycloneDX states it: SPDX expressions only if the text is one. */
export function toLicenses(text: string | undefined): { licenses?: License[] } {
  if (!text) return {}
  const isExpression = /^[\w.+() -]+$/.test(text) && !/^(SEE|UNLICENSED)/.test(text)
  return { licenses: [isExpression ? { expression: text } : { license: { name: text } }] }
}
