import type { Shape } from '@eyrie/contract/exports'
import type { Counter, Counters } from '@eyrie/contract/object'
import type { ReadonlySignal } from '@preact/signals'
import './counter-cards.css'

interface CounterCardsProps {
  counters: ReadonlySignal<Counters>
  shapes: readonly Shape[]
}

/** One card for each line and zone with its counters. The cards are shown before the first count, too. */
export function CounterCards({ counters, shapes }: CounterCardsProps) {
  const counted = Object.entries(counters.value)
  const cards: [string, Counter][] = counted.length > 0 ? counted : shapes.map(({ name }) => [name, {}])
  if (cards.length === 0) return null
  return (
    <section class="counter-cards" aria-label="Counts">
      {cards.map(([name, counter]) => (
        <div key={name} class="card">
          <h2>
            {name} <small>{shapes.find(shape => shape.name === name)?.type}</small>
          </h2>
          <dl>
            {Object.entries(counter).map(([key, value]) => (
              <div key={key}>
                <dd>
                  {Number.isInteger(value) ? value : value.toFixed(1)}
                  {key === 'dwell_time' && <small> s</small>}
                </dd>
                <dt>{key.replaceAll('_', ' ')}</dt>
              </div>
            ))}
          </dl>
        </div>
      ))}
    </section>
  )
}
