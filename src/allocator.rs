//! Where memory comes from.
//!
//! Events are made in one thread and freed in another, thousands of times a second: `mimalloc` takes a quarter of the time off
//! that the system's allocator takes. What is large it rounds up, to the next of few sizes, and puts where others have been
//! before; and what is large here mostly lives long, such as the channels and the task of an SSH session, four fifths of its
//! memory. That comes from the system, which packs it.

use std::alloc::{GlobalAlloc, Layout, System};

use mimalloc::MiMalloc;

/// From so many bytes on, memory comes from the system.
const LARGE: usize = 16 * 1024;
/// Its number of the option to take memory from the system as a whole before it is used (`mi_option_arena_eager_commit`).
const TAKE_AHEAD: i32 = 4;

#[global_allocator]
static ALLOCATOR: BySize = BySize;

/// The one or the other, by size alone: so it is known where memory goes back to.
struct BySize;

const fn is_large(layout: Layout) -> bool {
    layout.size() >= LARGE
}

#[allow(unsafe_code, reason = "an allocator is unsafe by nature")]
// SAFETY: both are allocators, and what one gave goes back to it, since a layout never changes its size.
unsafe impl GlobalAlloc for BySize {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are passed on, here and below.
        unsafe { if is_large(layout) { System.alloc(layout) } else { MiMalloc.alloc(layout) } }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        unsafe { if is_large(layout) { System.alloc_zeroed(layout) } else { MiMalloc.alloc_zeroed(layout) } }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe {
            if is_large(layout) { System.dealloc(memory, layout) } else { MiMalloc.dealloc(memory, layout) }
        }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above; the caller promises that the new size is that of a layout. What moves from the one to the other is
        // copied: both places are valid for the smaller size, and they are not the same.
        unsafe {
            let wanted = Layout::from_size_align_unchecked(size, layout.align());
            match (is_large(layout), is_large(wanted)) {
                (true, true) => System.realloc(memory, layout, size),
                (false, false) => MiMalloc.realloc(memory, layout, size),
                _ => {
                    let moved = self.alloc(wanted);
                    if !moved.is_null() {
                        std::ptr::copy_nonoverlapping(memory, moved, layout.size().min(size));
                        self.dealloc(memory, layout);
                    }
                    moved
                }
            }
        }
    }
}

/// An idle server keeps three times as much memory otherwise.
#[allow(unsafe_code, reason = "there is no other way to the allocator's options")]
extern "C" fn take_memory_as_needed() {
    // SAFETY: an option may be set at any time, from any thread; the number is an option of this version.
    unsafe {
        libmimalloc_sys::mi_option_set(TAKE_AHEAD, 0);
    }
}

/// Called before `main`, since the first memory is taken before it.
#[used]
#[allow(unsafe_code, reason = "the place of what is called before `main` is no name of Rust's")]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = take_memory_as_needed;

#[cfg(test)]
mod tests {
    use super::LARGE;

    #[test]
    fn what_grows_and_shrinks_across_the_limit_is_kept() {
        let mut bytes: Vec<u8> = Vec::with_capacity(16);
        let expected = |count: usize| (0..count).map(|n| n as u8);
        for count in [16, LARGE - 1, LARGE, 3 * LARGE] {
            bytes.extend(expected(count).skip(bytes.len()));
            bytes.shrink_to_fit();
            assert!(bytes.iter().copied().eq(expected(count)), "{count}");
        }
        for count in [2 * LARGE, LARGE, LARGE - 1, 16] {
            bytes.truncate(count);
            bytes.shrink_to_fit();
            assert!(bytes.iter().copied().eq(expected(count)), "{count}");
        }
        assert!(vec![0_u8; 2 * LARGE].iter().all(|byte| *byte == 0));
    }
}
