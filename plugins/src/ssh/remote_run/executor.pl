# Carries out executions for one connection, as `runner.sh` does, without a process for each step: what that starts programs
# for, this one asks the kernel for itself. `state.sh` says what the directory of an execution holds.
#
# Asked on standard input:  a line with the lengths of all fields, then the fields (`request.rs`).
# Answers on standard output:
#   o LENGTH, e LENGTH   so many bytes of standard output or standard error follow
#   end CODE             it has ended, and all its output was shown
#   shell                this one is for the shell: nothing was begun here
#   gone                 so is this one, which has ended, and this process has as well
#
# What is begun here is carried through when the connection breaks. Every part outlives the shell's: either can take up, cancel
# or refuse what the other one has begun.
use strict;

# Whatever the connection's end may bring. A program that is started does not inherit it, as it would if they were ignored.
$SIG{$_} = sub { } for qw(HUP PIPE CHLD);
umask 077;

my $boot = content('/proc/sys/kernel/random/boot_id');
my $since = (split ' ', content('/proc/self/stat') =~ /.*\) (.*)/s ? $1 : '')[19];
while (my @asked = request()) {
    my $code = execution(@asked);
    report(defined $code ? "end $code\n" : "shell\n");
}

sub request {
    my @lengths = split ' ', (<STDIN> // return);
    my $length = 0;
    $length += $_ for @lengths;
    (read(STDIN, my $fields, $length) // 0) == $length or exit;
    return unpack join(' ', map { "a$_" } @lengths), $fields;
}

# Its exit status; nothing if it is for the shell.
sub execution {
    my ($root, $key, $keep, $file, $holds, $umask, $variables, $words, @rest) = @_;
    my @environment = splice @rest, 0, $variables;
    my @program = splice @rest, 0, $words;

    # One execution at a time on this machine, whoever asks for it. What waits, was begun, or has no place yet is for the shell.
    open my $lock, '>>', "$root/lock" or return;
    flock $lock, 2 | 4 or return;
    mkdir "$root/$key", 0700;
    chdir "$root/$key" or return;
    return if -s 'rc' || -s 'started';
    my $direct = @program && ($file eq '' || index(content($file), $holds) >= 0);
    while (my ($name, $mode, $bytes) = splice @rest, 0, 3) {
        next if $direct && $name eq 'command';
        put($name, $bytes) && (!$mode || chmod oct $mode, $name) or return;
    }
    put('out', '') && put('err', '') && put('started', "$$ $since $boot") or return;

    # What comes to its group by itself has none yet.
    my $process = fork;
    exit 1 if !defined $process;
    become($direct ? (1, oct $umask, \@environment, @program) : (0, 077, [], 'sh', './command')) if !$process;
    my %shown = (out => 0, err => 0);
    while (1) {
        select undef, undef, undef, 0.1;    # its end ends the pause
        last if waitpid($process, 1);       # without waiting
        show(\%shown, 1);
    }
    my $code = $? & 127 ? 128 + ($? & 127) : $? >> 8;
    put('rc', "$code\n") or exit 1;
    make_room($root, $keep);
    close $lock;

    # Who follows it from elsewhere waits for this process to end, and must not wait for a client that takes nothing any more.
    if (-e 'followed') {
        report("gone\n") if taken();
        exit;
    }
    show(\%shown, 0);
    return $code;
}

# In a process of its own: runs the program, which leads the group of all its processes.
sub become {
    my ($leads, $umask, $environment, @program) = @_;
    setpgrp if $leads;
    open STDIN, '<', '/dev/null';
    open STDOUT, '>>', 'out';
    open STDERR, '>>', 'err';
    put('group', "$$\n");

    # Whoever cancels writes `cancelled` first and then looks for `group`: one of the two sees the other.
    exit 143 if -e 'cancelled';
    umask $umask;
    for (@$environment) {
        my ($name, $value) = split /=/, $_, 2;
        $ENV{$name} = $value;
    }
    exec { $program[0] } @program;
    print STDERR "$program[0]: $!\n";
    exit($! == 2 ? 127 : 126);
}

# Shows what was printed since it was last shown; while it goes on (`$live`) only as far as somebody takes it.
sub show {
    my ($shown, $live) = @_;
    for my $stream ('out', 'err') {
        next unless (-s $stream // 0) > $shown->{$stream};
        open my $file, '<', $stream or next;
        seek $file, $shown->{$stream}, 0;
        while (!$live || taken()) {
            my $length = sysread($file, my $bytes, $live ? 4000 : 30000) or last;
            $shown->{$stream} += $length;
            report(substr($stream, 0, 1) . " $length\n$bytes");
        }
    }
}

# Whether a few KB can be reported without waiting.
sub taken {
    vec(my $out = '', 1, 1) = 1;
    return select undef, $out, undef, 0;
}

# Nobody may be there any more.
sub report {
    my ($text) = @_;
    for (my $at = 0; $at < length $text;) {
        my $written = syswrite STDOUT, $text, length($text) - $at, $at;
        if (defined $written) { $at += $written }
        elsif ($! != 4) { return }    # not interrupted: gone
    }
}

# The oldest make room, many at a time. Nothing else runs now: what has begun has also ended.
sub make_room {
    my ($root, $keep) = @_;
    opendir my $all, $root or return;
    my @runs = grep { /^[^.]/ && $_ ne 'lock' } readdir $all;
    return if @runs <= $keep;
    open my $list, '-|', 'ls', '-1tr', $root or return;
    chomp(my @oldest = <$list>);
    my @begun = grep { -s "$root/$_/started" } @oldest;
    system 'rm', '-rf', '--', map { "$root/$_" } splice @begun, 0, @runs - int($keep / 2);
}

sub content {
    my ($name) = @_;
    open(my $file, '<', $name) or return '';
    local $/;
    return <$file>;
}

sub put {
    my ($name, $bytes) = @_;
    open(my $file, '>', $name) or return;
    return print($file $bytes) && close $file;
}
