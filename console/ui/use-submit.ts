import { type Signal, useSignal } from '@preact/signals'
import { capitalize } from './format.ts'

interface Submission {
  /** Why the last attempt failed; empty if it did not. */
  error: Signal<string>
  isSubmitting: Signal<boolean>
  /** Handles the `submit` event of a form. */
  onSubmit(event: SubmitEvent): Promise<void>
}

/** Submits a form. `submit` receives its fields, and the name of the button that was pressed. */
export function useSubmit(submit: (fields: FormData, button: string) => Promise<void>): Submission {
  const error = useSignal('')
  const isSubmitting = useSignal(false)

  async function onSubmit(event: SubmitEvent): Promise<void> {
    event.preventDefault()
    const button = (event.submitter as HTMLButtonElement | null)?.name ?? ''
    isSubmitting.value = true
    error.value = ''
    try {
      await submit(new FormData(event.currentTarget as HTMLFormElement), button)
    } catch (failure) {
      error.value = capitalize((failure as Error).message)
    } finally {
      isSubmitting.value = false
    }
  }

  return { error, isSubmitting, onSubmit }
}
