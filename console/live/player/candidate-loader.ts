/**
 * Opens a candidate, which is to replace something that is in use: at once, or after a delay. There
 * is at most one candidate.
 */
export interface CandidateLoader<Candidate> {
  /** Undefined while nothing is loading. */
  readonly candidate: Candidate | undefined
  load(): void
  loadAfter(delayMs: number): void
  /** Leaves the candidate to the caller, which closes it later. */
  release(): void
  /** Closes the candidate. If it is not open yet, it will not be opened. */
  cancel(): void
}

export interface CandidateLoaderOptions<Candidate> {
  open(): Candidate
  close(candidate: Candidate): void
}

type LoaderState<Candidate> =
  | { kind: 'idle' }
  | { kind: 'scheduled'; timer: ReturnType<typeof setTimeout> }
  | { kind: 'loading'; candidate: Candidate }

export function createCandidateLoader<Candidate>({
  open,
  close,
}: CandidateLoaderOptions<Candidate>): CandidateLoader<Candidate> {
  let state: LoaderState<Candidate> = { kind: 'idle' }

  function load() {
    state = { kind: 'loading', candidate: open() }
  }

  return {
    get candidate() {
      return state.kind === 'loading' ? state.candidate : undefined
    },
    load,
    loadAfter(delayMs) {
      state = { kind: 'scheduled', timer: setTimeout(load, delayMs) }
    },
    release() {
      state = { kind: 'idle' }
    },
    cancel() {
      if (state.kind === 'scheduled') clearTimeout(state.timer)
      if (state.kind === 'loading') close(state.candidate)
      state = { kind: 'idle' }
    },
  }
}
