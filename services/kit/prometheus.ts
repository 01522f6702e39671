/** A value with the labels that tell it from others of its family. */
export type Sample = readonly [labels: Record<string, string | number>, value: number]

/** A family of values in Prometheus' text format (version 0.0.4), its lines ended. */
export function family(name: string, type: 'gauge' | 'counter', samples: readonly Sample[]): string {
  return [`# TYPE ${name} ${type}`, ...samples.map(sample => line(name, sample)), ''].join('\n')
}

function line(name: string, [labels, value]: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}=${quoted(String(text))}`)
  return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}`
}

function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`
}
