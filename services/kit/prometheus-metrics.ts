/** Of the answer that carries the format. */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** A value with the labels that tell it from others of its family. */
export type Sample = readonly [labels: Record<string, string | number>, value: number]

export interface MetricFamily {
  /** A counter's ends in `_total`. */
  name: string
  type: 'gauge' | 'counter'
  /** What is measured, in one sentence. */
  help: string
  samples: readonly Sample[]
}

/** Families of values in Prometheus' text format (version 0.0.4). */
export function renderMetrics(families: readonly MetricFamily[]): string {
  return families
    .flatMap(({ name, type, help, samples }) => [
      `# HELP ${name} ${escaped(help)}`,
      `# TYPE ${name} ${type}`,
      ...samples.map(sample => line(name, sample)),
    ])
    .map(text => `${text}\n`)
    .join('')
}

function line(name: string, [labels, value]: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${quotable(String(text))}"`)
  return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${numeral(value)}`
}

const escaped = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
const quotable = (text: string) => escaped(text).replaceAll('"', '\\"')

/** As Go writes numbers. */
function numeral(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value)
  return value > 0 ? '+Inf' : '-Inf'
}
